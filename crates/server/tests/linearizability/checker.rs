//! Whether one order of all operations explains what every client saw.
//!
//! The search of Wing and Gong (1993) with the memory of Lowe (2017): an operation may come next if
//! none that is left out returned before it began; what was tried with the same operations behind
//! it and the same keys is not tried again. A client's operations are in its own order, so a place
//! in the search is one number a client.

use std::collections::HashSet;

/// Keys of a history: few, so that clients meet.
pub(crate) const KEYS: usize = 3;

/// What the keys hold.
pub(crate) type State = [Option<i64>; KEYS];

/// A command, and what it answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Get(usize, Option<i64>),
    Set(usize, i64),
    Incr(usize, i64),
    Del(usize, bool),
    MGet(Vec<usize>, Vec<Option<i64>>),
    MSet(Vec<(usize, i64)>),
}

impl Step {
    /// Applies it to `state`. False: it would not have answered so.
    fn apply(&self, state: &mut State) -> bool {
        match self {
            Step::Get(key, seen) => state[*key] == *seen,
            Step::Set(key, value) => {
                state[*key] = Some(*value);
                true
            }
            Step::Incr(key, seen) => {
                let value = state[*key].unwrap_or(0) + 1;
                state[*key] = Some(value);
                value == *seen
            }
            Step::Del(key, was_there) => state[*key].take().is_some() == *was_there,
            Step::MGet(keys, seen) => {
                keys.len() == seen.len()
                    && keys.iter().zip(seen).all(|(key, value)| state[*key] == *value)
            }
            Step::MSet(pairs) => {
                pairs.iter().for_each(|(key, value)| state[*key] = Some(*value));
                true
            }
        }
    }
}

/// One command, or those of a transaction, that nobody may see a part of.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    pub(crate) steps: Vec<Step>,
    /// When its bytes were about to be sent, in nanoseconds.
    pub(crate) began: u64,
    /// When its answer had come. >= began
    pub(crate) returned: u64,
}

impl Operation {
    fn apply(&self, state: &State) -> Option<State> {
        let mut state = *state;
        self.steps.iter().all(|step| step.apply(&mut state)).then_some(state)
    }
}

/// Where the search stands: how many operations of each client are in the order, and the keys.
type Node = (Vec<u32>, State);

/// Looks for an order of all clients' operations. An error names the operations at which the
/// longest order that was found cannot go on.
pub(crate) fn check(clients: &[Vec<Operation>]) -> Result<(), String> {
    let total: usize = clients.iter().map(Vec::len).sum();
    let start: Node = (vec![0; clients.len()], [None; KEYS]);
    let mut seen = HashSet::from([start.clone()]);
    let mut open = vec![start.clone()];
    let (mut longest, mut longest_len) = (start, 0);
    while let Some(node) = open.pop() {
        let len: usize = node.0.iter().map(|at| *at as usize).sum();
        if len == total {
            return Ok(());
        }
        if len > longest_len {
            (longest, longest_len) = (node.clone(), len);
        }
        for next in followers(clients, &node) {
            if seen.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    Err(describe(clients, &longest))
}

/// The operations that may come next, and what each leads to.
fn followers(clients: &[Vec<Operation>], (places, state): &Node) -> Vec<Node> {
    let heads = || {
        let head = |client: usize| clients[client].get(places[client] as usize);
        (0..clients.len()).filter_map(move |client| Some((client, head(client)?)))
    };
    let first_return = heads().map(|(_, head)| head.returned).min().unwrap_or(u64::MAX);
    heads()
        .filter(|(_, head)| head.began <= first_return)
        .filter_map(|(client, head)| {
            let state = head.apply(state)?;
            let mut places = places.clone();
            places[client] += 1;
            Some((places, state))
        })
        .collect()
}

fn describe(clients: &[Vec<Operation>], (places, state): &Node) -> String {
    let mut text = format!("no order explains this; the keys hold {state:?} and next are:");
    for (client, operations) in clients.iter().enumerate() {
        let from = places[client] as usize;
        for Operation { steps, began, returned } in operations[from..].iter().take(3) {
            text += &format!("\n  client {client}, {began}..{returned}: {steps:?}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operation(began: u64, returned: u64, steps: &[Step]) -> Operation {
        Operation { steps: steps.to_vec(), began, returned }
    }

    #[test]
    fn what_one_order_explains_passes() {
        let set = operation(0, 10, &[Step::Set(0, 7)]);
        let before = operation(1, 3, &[Step::Get(0, None)]);
        let after = operation(4, 6, &[Step::Get(0, Some(7))]);
        check(&[vec![set.clone()], vec![before.clone(), after.clone()]]).unwrap();
        check(&[vec![set], vec![before], vec![after]]).unwrap();
        let incr = |seen| operation(0, 9, &[Step::Incr(1, seen)]);
        check(&[vec![incr(2)], vec![incr(3)], vec![incr(1)]]).unwrap();
    }

    #[test]
    fn a_value_that_went_back_is_found() {
        let set = operation(0, 10, &[Step::Set(0, 7)]);
        let after = operation(1, 3, &[Step::Get(0, Some(7))]);
        let before = operation(4, 6, &[Step::Get(0, None)]);
        assert!(check(&[vec![set.clone()], vec![after.clone(), before.clone()]]).is_err());
        assert!(check(&[vec![set], vec![after], vec![before]]).is_err());
    }

    #[test]
    fn a_read_that_misses_an_answered_write_is_found() {
        let set = operation(0, 2, &[Step::Set(0, 7)]);
        assert!(check(&[vec![set], vec![operation(3, 4, &[Step::Get(0, None)])]]).is_err());
    }

    #[test]
    fn a_torn_mget_is_found() {
        let write = operation(0, 9, &[Step::MSet(vec![(0, 1), (1, 1)])]);
        let read =
            |seen: [Option<i64>; 2]| operation(1, 5, &[Step::MGet(vec![0, 1], seen.to_vec())]);
        check(&[vec![write.clone()], vec![read([None, None])]]).unwrap();
        check(&[vec![write.clone()], vec![read([Some(1), Some(1)])]]).unwrap();
        let error = check(&[vec![write], vec![read([Some(1), None])]]).unwrap_err();
        assert!(error.contains("MGet"), "{error}");
    }

    #[test]
    fn half_a_transaction_is_found() {
        let transaction = operation(0, 9, &[Step::Incr(0, 1), Step::Incr(1, 1)]);
        let reads =
            [operation(1, 2, &[Step::Get(0, Some(1))]), operation(3, 4, &[Step::Get(1, None)])];
        assert!(check(&[vec![transaction], reads.to_vec()]).is_err());
    }

    #[test]
    fn a_lost_increment_is_found() {
        let incr = operation(0, 9, &[Step::Incr(0, 1)]);
        assert!(check(&[vec![incr.clone()], vec![incr]]).is_err());
    }
}
