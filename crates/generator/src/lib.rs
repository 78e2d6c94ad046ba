//! Random commands on data, from a seed: typed, mostly sensible, now and then wrong on purpose.
//!
//! For tests that compare: Caudal with a reference server, effects with their replay. The commands
//! stand in [`catalogue`] as templates, one line each, whose language is `template`'s; what goes
//! into their gaps is chosen in `words`. What must stay true: the same seed gives the same
//! commands.
#![forbid(unsafe_code)]

pub mod catalogue;
mod random;
mod template;
mod words;

pub use random::{Random, asked, fresh_seed};
use template::Template;

/// Commands are words: the name and its arguments.
pub type Words = Vec<Vec<u8>>;

/// Once in so many commands a word is left out, doubled or replaced.
const MUTATION_RARITY: usize = 60;

/// An endless sequence of commands.
pub struct Generator {
    random: Random,
    /// Templates of one command after another, so that each command comes as often as any other.
    commands: Vec<Vec<Template>>,
}

impl Generator {
    /// Commands of the catalogue for which `has`, given the name in upper case, is true.
    ///
    /// # Panics
    /// If it is true for none.
    pub fn new(seed: u64, has: impl Fn(&str) -> bool) -> Self {
        let mut names: Vec<&str> = Vec::new();
        let mut commands: Vec<Vec<Template>> = Vec::new();
        for line in catalogue::GROUPS.iter().flat_map(|(_, lines)| lines.iter()) {
            let name = line.split(' ').next().unwrap_or(line);
            if !has(name) {
                continue;
            }
            let template = Template::parse(line);
            match names.iter().position(|other| *other == name) {
                Some(at) => commands[at].push(template),
                None => {
                    names.push(name);
                    commands.push(vec![template]);
                }
            }
        }
        assert!(!commands.is_empty(), "some command is wanted");
        Self { random: Random::new(seed), commands }
    }

    /// Random choices beside the commands, from the same seed.
    pub fn random(&mut self) -> &mut Random {
        &mut self.random
    }

    /// The next command.
    pub fn command(&mut self) -> Words {
        let at = self.random.below(self.commands.len());
        let templates = &self.commands[at];
        let template = &templates[self.random.below(templates.len())];
        let mut words = template.fill(&mut self.random);
        // A blocking command that went wrong might wait for ever.
        let blocks = words[0].starts_with(b"B") || words.iter().any(|word| word == b"BLOCK");
        if !blocks && self.random.once_in(MUTATION_RARITY) {
            self.mutate(&mut words);
        }
        words
    }

    /// Makes a command that is probably wrong. Its name stays.
    fn mutate(&mut self, words: &mut Words) {
        let at = 1 + self.random.below(words.len());
        match (self.random.below(3), at < words.len()) {
            (0, true) => drop(words.remove(at)),
            (1, true) => words.insert(at, words[at].clone()),
            (_, true) => words[at] = words::choose("junk", &mut self.random),
            (_, false) => words.push(words::choose("junk", &mut self.random)),
        }
    }
}

/// The names of all commands in the catalogue.
pub fn names() -> impl Iterator<Item = &'static str> {
    let lines = catalogue::GROUPS.iter().flat_map(|(_, lines)| lines.iter());
    lines.map(|line| line.split(' ').next().unwrap_or(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_decides_the_commands() {
        let take = |seed| {
            let mut generator = Generator::new(seed, |_| true);
            (0..1000).map(|_| generator.command()).collect::<Vec<_>>()
        };
        assert!(take(1) == take(1) && take(1) != take(2));
    }

    #[test]
    fn every_command_of_the_catalogue_comes() {
        let mut generator = Generator::new(3, |_| true);
        let mut missing: Vec<&str> = names().collect();
        for _ in 0..20_000 {
            let command = generator.command();
            missing.retain(|name| name.as_bytes() != command[0]);
        }
        assert_eq!(missing, [""; 0]);
    }

    #[test]
    fn only_wanted_commands_come() {
        let mut generator = Generator::new(3, |name| name == "GET");
        assert!((0..100).all(|_| generator.command()[0] == b"GET"));
    }
}
