//! The part of JSON Schema that our schemas use: `type`, `const`, `enum`, `required`, `properties`,
//! `additionalProperties`, `items`, `minItems`, `uniqueItems`, `minimum`, `maximum`, `format`, `pattern` of `^prefix`,
//! `anyOf`, `oneOf` and `$ref` to a place in the schema. An unknown keyword is an error, not ignored.

use serde_json::Value;

/// Checks a value against a schema; the error gives the place and the reason.
pub(crate) fn validate(value: &Value, schema: &Value) -> Result<(), String> {
    Validator { root: schema }.check(value, schema, "")
}

struct Validator<'s> {
    root: &'s Value,
}

impl Validator<'_> {
    fn check(&self, value: &Value, schema: &Value, at: &str) -> Result<(), String> {
        let Some(keywords) = schema.as_object() else {
            return match schema {
                Value::Bool(true) => Ok(()),
                _ => Err(format!("{at}: nothing is allowed here")),
            };
        };
        for (keyword, expected) in keywords {
            self.keyword(keyword, expected, schema, value, at)?;
        }
        Ok(())
    }

    fn keyword(
        &self,
        keyword: &str,
        expected: &Value,
        schema: &Value,
        value: &Value,
        at: &str,
    ) -> Result<(), String> {
        let holds = |holds: bool| match holds {
            true => Ok(()),
            false => Err(format!("{at}: {value} against {keyword} {expected}")),
        };
        match keyword {
            "$schema" | "$id" | "$defs" | "definitions" | "title" | "description" | "default"
            | "examples" => Ok(()),
            "$ref" => {
                let pointer = expected.as_str().unwrap().strip_prefix('#').unwrap();
                let target = self.root.pointer(pointer).ok_or_else(|| format!("no {pointer}"))?;
                self.check(value, target, at)
            }
            "type" => {
                let types = expected.as_array().cloned().unwrap_or_else(|| vec![expected.clone()]);
                holds(types.iter().any(|one| is_type(value, one.as_str().unwrap())))
            }
            "const" => holds(value == expected),
            "enum" => holds(expected.as_array().unwrap().contains(value)),
            "required" => {
                let names = expected.as_array().unwrap().iter().filter_map(Value::as_str);
                let missing: Vec<&str> =
                    names.filter(|name| value.is_object() && value.get(name).is_none()).collect();
                holds(missing.is_empty())
            }
            "properties" => {
                for (name, schema) in expected.as_object().unwrap() {
                    if let Some(value) = value.get(name) {
                        self.check(value, schema, &format!("{at}/{name}"))?;
                    }
                }
                Ok(())
            }
            "additionalProperties" => {
                let known = schema.get("properties").and_then(Value::as_object);
                for (name, value) in value.as_object().into_iter().flatten() {
                    if known.is_none_or(|known| !known.contains_key(name)) {
                        self.check(value, expected, &format!("{at}/{name}"))?;
                    }
                }
                Ok(())
            }
            "items" => {
                for (number, value) in value.as_array().into_iter().flatten().enumerate() {
                    self.check(value, expected, &format!("{at}/{number}"))?;
                }
                Ok(())
            }
            "uniqueItems" => {
                let items = value.as_array().map_or(&[][..], Vec::as_slice);
                let is_first = |(at, one): (usize, &Value)| !items[..at].contains(one);
                holds(expected != true || items.iter().enumerate().all(is_first))
            }
            "format" => holds(value.as_str().is_none_or(|text| has_format(text, expected))),
            "minItems" => {
                let least = expected.as_u64().unwrap() as usize;
                holds(value.as_array().is_none_or(|items| items.len() >= least))
            }
            "minimum" => holds(value.as_f64().is_none_or(|v| v >= expected.as_f64().unwrap())),
            "maximum" => holds(value.as_f64().is_none_or(|v| v <= expected.as_f64().unwrap())),
            "oneOf" => {
                let all = expected.as_array().unwrap().iter();
                holds(all.filter(|schema| self.check(value, schema, at).is_ok()).count() == 1)
            }
            "pattern" => {
                let prefix = expected.as_str().unwrap().strip_prefix('^').unwrap();
                if prefix.contains(|c: char| !c.is_alphanumeric() && !"-:/.".contains(c)) {
                    return Err(format!(
                        "{at}: the validator does not know the pattern {expected}"
                    ));
                }
                holds(value.as_str().is_none_or(|text| text.starts_with(prefix)))
            }
            "anyOf" => {
                let mut any = expected.as_array().unwrap().iter();
                holds(any.any(|schema| self.check(value, schema, at).is_ok()))
            }
            _ => Err(format!("the validator does not know `{keyword}`")),
        }
    }
}

fn has_format(text: &str, format: &Value) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~:/?#[]@!$&'()*+,;=%".contains(c);
    match format.as_str().unwrap() {
        "uri-reference" => text.chars().all(is_plain),
        "uri" => {
            let scheme = text.split_once(':').map_or("", |(scheme, _)| scheme);
            let is_scheme = !scheme.is_empty() && scheme.chars().all(|c| c.is_ascii_alphanumeric());
            is_scheme && text.chars().all(is_plain)
        }
        format => panic!("the validator does not know the format {format}"),
    }
}

fn is_type(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        _ => false,
    }
}
