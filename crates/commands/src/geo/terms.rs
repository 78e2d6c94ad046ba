//! What a search asks for: where to look, how many, in which order, and what to answer.
//!
//! The source is at hand while the words are read: a member that is not in it is an error that
//! comes before those of the words behind it, as in Valkey.

use super::unit::Unit;
use super::{place_of, point};
use crate::{Args, Cursor, Error};
use caudal_value::SortedSet;
use caudal_value::geo::{Point, Shape};

/// Which of the commands it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// GEORADIUS, with STORE and STOREDIST or without.
    Radius { stores: bool },
    /// GEORADIUSBYMEMBER, likewise.
    RadiusByMember { stores: bool },
    /// GEOSEARCH.
    Search,
    /// GEOSEARCHSTORE.
    SearchStore,
}

/// By distance from the centre.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    NearestFirst,
    FarthestFirst,
}

/// What becomes the score of a stored member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stored {
    Place,
    Distance,
}

/// What is answered with each member.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct With {
    pub(super) distance: bool,
    pub(super) hash: bool,
    pub(super) coordinates: bool,
}

/// A search.
#[derive(Clone, Debug)]
pub(super) struct Terms {
    /// None: there is no source, and nothing to look for.
    pub(super) shape: Option<Shape>,
    pub(super) unit: Unit,
    /// Members to find at most; zero: all.
    pub(super) count: usize,
    /// ANY: those that are found first will do.
    pub(super) any: bool,
    pub(super) order: Option<Order>,
    pub(super) with: With,
    /// Argument of the key to store at, and what to store.
    pub(super) store: Option<(usize, Stored)>,
}

impl Terms {
    /// Reads the words behind the source.
    pub(super) fn parse(
        args: Args<'_>,
        form: Form,
        source: Option<&SortedSet>,
    ) -> Result<Terms, Error> {
        let mut reader = Reader::new(form, source);
        let mut cursor = reader.leading(args)?;
        while cursor.left() > 0 {
            let taken = reader.option(args, &mut cursor)?
                || reader.place(args, &mut cursor)?
                || reader.area(args, &mut cursor)?;
            if !taken {
                return Err(Error::SYNTAX);
            }
        }
        reader.finish(args)
    }
}

/// Where to look, as far as it is read.
#[derive(Clone, Debug)]
enum Area {
    Unsaid,
    Circle { radius_m: f64 },
    Rectangle { width_m: f64, height_m: f64 },
    Polygon { corners: Vec<Point> },
}

struct Reader<'c> {
    form: Form,
    source: Option<&'c SortedSet>,
    centre: Option<Point>,
    /// A centre was named; there is none where the source is missing.
    has_centre: bool,
    area: Area,
    terms: Terms,
}

impl<'c> Reader<'c> {
    fn new(form: Form, source: Option<&'c SortedSet>) -> Reader<'c> {
        let terms = Terms {
            shape: None,
            unit: Unit::METER,
            count: 0,
            any: false,
            order: None,
            with: With::default(),
            store: (form == Form::SearchStore).then_some((1, Stored::Place)),
        };
        Reader { form, source, centre: None, has_centre: false, area: Area::Unsaid, terms }
    }

    /// Reads what stands at a fixed place, and returns where the rest begins.
    fn leading<'a>(&mut self, args: Args<'a>) -> Result<Cursor<'a>, Error> {
        match self.form {
            Form::Radius { .. } => {
                self.centre = Some(point(args, 2)?);
                self.circle(args, 4)?;
                Ok(args.cursor(6))
            }
            Form::RadiusByMember { .. } => {
                if self.source.is_some() {
                    self.centre = Some(self.member(args.at(2))?);
                    self.circle(args, 3)?;
                }
                Ok(args.cursor(5))
            }
            Form::Search => Ok(args.cursor(2)),
            Form::SearchStore => Ok(args.cursor(3)),
        }
    }

    /// Reads an option that all commands have, or one on storing.
    fn option(&mut self, args: Args<'_>, cursor: &mut Cursor<'_>) -> Result<bool, Error> {
        let (terms, has_operand) = (&mut self.terms, cursor.left() > 1);
        let stores = matches!(
            self.form,
            Form::Radius { stores: true } | Form::RadiusByMember { stores: true }
        );
        if cursor.take("WITHDIST") {
            terms.with.distance = true;
        } else if cursor.take("WITHHASH") {
            terms.with.hash = true;
        } else if cursor.take("WITHCOORD") {
            terms.with.coordinates = true;
        } else if cursor.take("ANY") {
            terms.any = true;
        } else if cursor.take("ASC") {
            terms.order = Some(Order::NearestFirst);
        } else if cursor.take("DESC") {
            terms.order = Some(Order::FarthestFirst);
        } else if has_operand && cursor.take("COUNT") {
            let count = usize::try_from(args.integer(cursor.index())?).ok();
            let count = count.filter(|count| *count > 0);
            terms.count = count.ok_or(Error::text("ERR COUNT must be > 0"))?;
            cursor.next();
        } else if stores && has_operand && cursor.take("STORE") {
            terms.store = Some((cursor.index(), Stored::Place));
            cursor.next();
        } else if stores && has_operand && cursor.take("STOREDIST") {
            terms.store = Some((cursor.index(), Stored::Distance));
            cursor.next();
        } else if self.form == Form::SearchStore && cursor.take("STOREDIST") {
            terms.store = Some((1, Stored::Distance));
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// Reads FROMMEMBER or FROMLONLAT, which comes once.
    fn place<'a>(&mut self, args: Args<'a>, cursor: &mut Cursor<'a>) -> Result<bool, Error> {
        let is_search = matches!(self.form, Form::Search | Form::SearchStore);
        if !is_search || self.has_centre || matches!(self.area, Area::Polygon { .. }) {
            return Ok(false);
        }
        if cursor.left() > 1 && cursor.take("FROMMEMBER") {
            let member = cursor.next().expect("two words were left");
            if self.source.is_some() {
                self.centre = Some(self.member(member)?);
            }
        } else if cursor.left() > 2 && cursor.take("FROMLONLAT") {
            self.centre = Some(point(args, cursor.index())?);
            *cursor = args.cursor(cursor.index() + 2);
        } else {
            return Ok(false);
        }
        self.has_centre = true;
        Ok(true)
    }

    /// Reads BYRADIUS, BYBOX or BYPOLYGON. A polygon may be said twice, and has its own centre.
    fn area<'a>(&mut self, args: Args<'a>, cursor: &mut Cursor<'a>) -> Result<bool, Error> {
        if !matches!(self.form, Form::Search | Form::SearchStore) {
            return Ok(false);
        }
        let is_unsaid = matches!(self.area, Area::Unsaid);
        if is_unsaid && cursor.left() > 2 && cursor.take("BYRADIUS") {
            self.circle(args, cursor.index())?;
            *cursor = args.cursor(cursor.index() + 2);
        } else if is_unsaid && cursor.left() > 3 && cursor.take("BYBOX") {
            self.rectangle(args, cursor.index())?;
            *cursor = args.cursor(cursor.index() + 3);
        } else if matches!(self.area, Area::Unsaid | Area::Polygon { .. })
            && !self.has_centre
            && cursor.left() > 1
            && cursor.take("BYPOLYGON")
        {
            let count = self.polygon(args, cursor.index())?;
            *cursor = args.cursor(cursor.index() + 1 + 2 * count);
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    fn circle(&mut self, args: Args<'_>, at: usize) -> Result<(), Error> {
        const NOT_NUMERIC: Error = Error::text("ERR need numeric radius");
        const NEGATIVE: Error = Error::text("ERR radius cannot be negative");
        let radius = args.float(at).map_err(|_| NOT_NUMERIC)?;
        if radius < 0.0 {
            return Err(NEGATIVE);
        }
        self.terms.unit = Unit::parse(args, at + 1)?;
        self.area = Area::Circle { radius_m: self.terms.unit.to_meters(radius) };
        Ok(())
    }

    fn rectangle(&mut self, args: Args<'_>, at: usize) -> Result<(), Error> {
        const BAD_WIDTH: Error = Error::text("ERR need numeric width");
        const BAD_HEIGHT: Error = Error::text("ERR need numeric height");
        const NEGATIVE: Error = Error::text("ERR height or width cannot be negative");
        let width = args.float(at).map_err(|_| BAD_WIDTH)?;
        let height = args.float(at + 1).map_err(|_| BAD_HEIGHT)?;
        if width < 0.0 || height < 0.0 {
            return Err(NEGATIVE);
        }
        let unit = Unit::parse(args, at + 2)?;
        self.terms.unit = unit;
        let (width_m, height_m) = (unit.to_meters(width), unit.to_meters(height));
        self.area = Area::Rectangle { width_m, height_m };
        Ok(())
    }

    /// Reads the number of corners, at `at`, and the corners behind it. Returns the number.
    fn polygon(&mut self, args: Args<'_>, at: usize) -> Result<usize, Error> {
        const CORNERS_MIN: i32 = 3;
        const BAD_COUNT: Error = Error::text("ERR invalid number of vertices");
        const TOO_FEW: Error = Error::text("ERR GEOSEARCH BYPOLYGON must have at least 3 vertices");
        let count = args.integer(at).ok().and_then(|count| i32::try_from(count).ok());
        let count = count.ok_or(BAD_COUNT)?;
        let given = (args.len() - at - 1) / 2;
        let count = usize::try_from(count).ok().filter(|_| count >= CORNERS_MIN).ok_or(TOO_FEW)?;
        if count > given {
            return Err(TOO_FEW);
        }
        let corners = (0..count).map(|corner| point(args, at + 1 + 2 * corner));
        self.area = Area::Polygon { corners: corners.collect::<Result<_, _>>()? };
        Ok(count)
    }

    fn member(&self, member: &[u8]) -> Result<Point, Error> {
        let found = place_of(self.source, member);
        found.ok_or_else(|| Error::quoting("ERR member ", member, " does not exist"))
    }

    /// Holds what was said against each other.
    fn finish(self, args: Args<'_>) -> Result<Terms, Error> {
        let Reader { form, centre, has_centre, area, mut terms, .. } = self;
        let is_search = matches!(form, Form::Search | Form::SearchStore);
        if terms.store.is_some() && terms.with != With::default() {
            let name = if form == Form::SearchStore {
                "GEOSEARCHSTORE"
            } else {
                "STORE option in GEORADIUS"
            };
            return Err(Error::new(format!(
                "ERR {name} is not compatible with WITHDIST, WITHHASH and WITHCOORD options"
            )));
        }
        let is_polygon = matches!(area, Area::Polygon { .. });
        if is_search && !has_centre && !is_polygon {
            let text = "ERR exactly one of FROMMEMBER or FROMLONLAT can be specified for ";
            return Err(Error::quoting(text, args.at(0), ""));
        }
        if is_search && matches!(area, Area::Unsaid) {
            let text = "ERR exactly one of BYRADIUS, BYBOX and BYPOLYGON can be specified for ";
            return Err(Error::quoting(text, args.at(0), ""));
        }
        if terms.any && terms.count == 0 {
            return Err(Error::text("ERR the ANY argument requires COUNT argument"));
        }
        if terms.count > 0 && !terms.any && terms.order.is_none() {
            terms.order = Some(Order::NearestFirst);
        }
        terms.shape = match (area, centre) {
            (Area::Circle { radius_m }, Some(centre)) => Some(Shape::Circle { centre, radius_m }),
            (Area::Rectangle { width_m, height_m }, Some(centre)) => {
                Some(Shape::Rectangle { centre, width_m, height_m })
            }
            (Area::Polygon { corners }, _) => Some(Shape::Polygon { corners }),
            _ => None,
        };
        Ok(terms)
    }
}
