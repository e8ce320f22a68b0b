//! Reads the few members of a JSON value that matter, whatever else stands there.
//!
//! Transcripts come from many versions of programs that this crate does not own: a member may have another type than
//! last month, or stand twice. A derived struct would refuse the whole record for that. A [`Shape`] takes what it knows,
//! passes over the rest without keeping it, and lets the last of two equal names win, as JavaScript does.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// What is taken from one JSON value. Each method does nothing unless the shape wants that kind of value.
pub(crate) trait Shape<'de>: Default {
    /// The value is a string.
    fn text(&mut self, _text: Cow<'de, str>) {}

    /// The value is a boolean.
    fn flag(&mut self, _flag: bool) {}

    /// The value is anything but `null`. Called before the method for its kind.
    fn present(&mut self) {}

    /// The value is an array.
    fn list<A: SeqAccess<'de>>(&mut self, mut list: A) -> Result<(), A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    /// The value is an object; called once a member. Must take the member's value from `map`.
    fn member<A: MapAccess<'de>>(&mut self, _name: &str, map: &mut A) -> Result<(), A::Error> {
        map.next_value::<IgnoredAny>().map(drop)
    }
}

/// Makes any [`Shape`] readable by serde.
#[derive(Debug, Default)]
pub(crate) struct Seen<S>(pub(crate) S);

/// A string, or nothing.
#[derive(Default)]
pub(crate) struct Text<'de>(pub(crate) Option<Cow<'de, str>>);

/// Whether the value is `true`.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Flag(pub(crate) bool);

/// Whether the value is there and not `null`.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Present(pub(crate) bool);

impl Text<'_> {
    pub(crate) fn as_str(&self) -> Option<&str> {
        self.0.as_deref()
    }

    pub(crate) fn is(&self, word: &str) -> bool {
        self.as_str() == Some(word)
    }
}

impl<'de> Shape<'de> for Text<'de> {
    fn text(&mut self, text: Cow<'de, str>) {
        self.0 = Some(text);
    }
}

impl Shape<'_> for Flag {
    fn flag(&mut self, flag: bool) {
        self.0 = flag;
    }
}

impl Shape<'_> for Present {
    fn present(&mut self) {
        self.0 = true;
    }
}

/// Takes the value of the member that was just named.
pub(crate) fn take<'de, S: Shape<'de>, A: MapAccess<'de>>(map: &mut A) -> Result<S, A::Error> {
    map.next_value::<Seen<S>>().map(|seen| seen.0)
}

impl<'de, S: Shape<'de>> Deserialize<'de> for Seen<S> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Taker(PhantomData))
    }
}

struct Taker<S>(PhantomData<S>);

impl<'de, S: Shape<'de>> Taker<S> {
    fn with(act: impl FnOnce(&mut S)) -> Seen<S> {
        let mut shape = S::default();
        shape.present();
        act(&mut shape);
        Seen(shape)
    }
}

impl<'de, S: Shape<'de>> Visitor<'de> for Taker<S> {
    type Value = Seen<S>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Self::with(|shape| shape.text(Cow::Borrowed(text))))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Self::with(|shape| shape.text(Cow::Owned(text.to_owned()))))
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<Self::Value, E> {
        Ok(Self::with(|shape| shape.flag(flag)))
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Self::Value, E> {
        Ok(Self::with(|_| ()))
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Self::Value, E> {
        Ok(Self::with(|_| ()))
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Self::with(|_| ()))
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(Seen(S::default()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
        let mut shape = S::default();
        shape.present();
        shape.list(list)?;
        Ok(Seen(shape))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut shape = S::default();
        shape.present();
        while let Some(Seen(name)) = map.next_key::<Seen<Text<'de>>>()? {
            shape.member(name.as_str().unwrap_or_default(), &mut map)?;
        }
        Ok(Seen(shape))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Pair<'de> {
        word: Text<'de>,
        flag: Flag,
        there: Present,
    }

    impl<'de> Shape<'de> for Pair<'de> {
        fn member<A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
            match name {
                "word" => self.word = take(map)?,
                "flag" => self.flag = take(map)?,
                "there" => self.there = take(map)?,
                _ => map.next_value::<IgnoredAny>().map(drop)?,
            }
            Ok(())
        }
    }

    fn read(json: &str) -> (Option<String>, bool, bool) {
        let Seen(pair) = serde_json::from_str::<Seen<Pair<'_>>>(json).unwrap();
        (pair.word.0.map(Cow::into_owned), pair.flag.0, pair.there.0)
    }

    #[test]
    fn other_types_are_nothing_and_the_last_of_two_wins() {
        assert_eq!(
            read(r#"{"word":"a\nb","flag":true,"there":[1,{"x":[]}]}"#),
            (Some("a\nb".into()), true, true)
        );
        assert_eq!(read(r#"{"word":5,"flag":"yes","there":null}"#), (None, false, false));
        assert_eq!(read(r#"{"word":"a","w\u006frd":"b","other":{"a":1}}"#).0, Some("b".into()));
        assert_eq!(read("[1,2]"), (None, false, false));
        assert_eq!(read("-1.5"), (None, false, false));
    }

    #[test]
    fn what_is_passed_over_may_be_nested_without_limit() {
        let deep = format!(r#"{{"x":{}{},"word":"a"}}"#, "[".repeat(5_000), "]".repeat(5_000));
        assert_eq!(read(&deep).0, Some("a".into()));
    }
}
