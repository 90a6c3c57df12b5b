//! Reading fields that servers fill in differently.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeOwned, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, de};
use serde_json::Value;

/// A text, borrowed where it has no escapes; none if it is missing, null, or no text.
pub(super) fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Cow<'de, str>>, D::Error> {
    deserializer.deserialize_any(Text)
}

struct Text;

impl<'de> Visitor<'de> for Text {
    type Value = Option<Cow<'de, str>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Some(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Some(Cow::Owned(text.to_owned())))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Self::Value, E> {
        Ok(Some(Cow::Owned(text)))
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Some(Cow::Owned(number.to_string())))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Some(Cow::Owned(number.to_string())))
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }
}

/// A text, or a value in its place.
#[derive(Debug)]
pub(super) enum TextOr<'a> {
    /// A text.
    Text(Cow<'a, str>),
    /// A list or an object.
    Value(Value),
}

/// The same where a list or an object means something.
pub(super) fn text_or_value<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<TextOr<'de>>, D::Error> {
    struct Either;

    impl<'de> Visitor<'de> for Either {
        type Value = Option<TextOr<'de>>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a text, a list or an object")
        }

        fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
            Ok(Some(TextOr::Text(Cow::Borrowed(text))))
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
            Ok(Some(TextOr::Text(Cow::Owned(text.to_owned()))))
        }

        fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
            Ok(None)
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
            Ok(Some(TextOr::Value(Value::deserialize(de::value::MapAccessDeserializer::new(map))?)))
        }

        fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Self::Value, A::Error> {
            Ok(Some(TextOr::Value(Value::deserialize(de::value::SeqAccessDeserializer::new(items))?)))
        }
    }

    deserializer.deserialize_any(Either)
}

/// A count, also where it comes as a float or as a text; none if it is anything else. What an answer used is told
/// beside it, and never fails it.
pub(super) fn optional_count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let number = match Value::deserialize(deserializer)? {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    // A negative one becomes 0.
    Ok(number.map(|number: f64| number as u64))
}

/// The same; 0 where there is none.
pub(super) fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    optional_count(deserializer).map(Option::unwrap_or_default)
}

/// An object; none if it is null or anything else.
pub(super) fn object<'de, D: Deserializer<'de>, T: DeserializeOwned>(deserializer: D) -> Result<Option<T>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    Ok(if value.is_object() { serde_json::from_value(value).ok() } else { None })
}

/// The same; the default where there is none.
pub(super) fn object_or_default<'de, D: Deserializer<'de>, T: Default + DeserializeOwned>(
    deserializer: D,
) -> Result<T, D::Error> {
    object(deserializer).map(Option::unwrap_or_default)
}

/// The default where a value is null.
pub(super) fn or_default<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}
