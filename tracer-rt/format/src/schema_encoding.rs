//! Encodes schemas, for generators and for programs that make specs while they run.
//!
//! The encoding is that of bincode with numbers of fixed size. Programs that only encode need no
//! further package for it.

use crate::schema::{FieldType, RecordKind, Scalar, Schema};

impl Schema {
    /// The bytes of the schema in a `schema` block.
    ///
    /// ```
    /// use tracer_format::Schema;
    ///
    /// let schema = Schema { name: "app".into(), ..Schema::default() };
    /// assert!(schema.encode().ends_with(&[0; 8]));      // no sources
    /// ```
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = SchemaBytes(Vec::new());
        out.number(self.version);
        out.text(&self.name);
        out.number(self.spec_version);
        out.list(&self.levels, |out, level| {
            out.text(&level.name);
            out.flag(level.is_enabled);
        });
        out.list(&self.enums, |out, item| {
            out.text(&item.name);
            out.list(&item.values, |out, value| {
                out.text(&value.name);
                out.0.extend(value.number.to_le_bytes());
            });
        });
        out.list(&self.records, |out, record| {
            out.text(&record.name);
            out.number(record.level);
            out.number(match record.kind {
                RecordKind::Event => 0,
                RecordKind::Begin => 1,
                RecordKind::End => 2,
            });
            out.flag(record.has_location);
            out.list(&record.fields, |out, field| {
                out.text(&field.name);
                out.field_type(field.ty);
            });
        });
        out.list(&self.sources, |out, source| {
            out.text(&source.path);
            out.text(&source.text);
        });
        out.0
    }
}

struct SchemaBytes(Vec<u8>);

impl SchemaBytes {
    fn number(&mut self, number: u32) {
        self.0.extend(number.to_le_bytes());
    }

    fn flag(&mut self, flag: bool) {
        self.0.push(u8::from(flag));
    }

    fn text(&mut self, text: &str) {
        self.0.extend((text.len() as u64).to_le_bytes());
        self.0.extend(text.as_bytes());
    }

    fn list<T>(&mut self, items: &[T], mut append: impl FnMut(&mut Self, &T)) {
        self.0.extend((items.len() as u64).to_le_bytes());
        items.iter().for_each(|item| append(self, item));
    }

    fn field_type(&mut self, ty: FieldType) {
        match ty {
            FieldType::One(scalar) => {
                self.number(0);
                self.scalar(scalar);
            }
            FieldType::Fixed(scalar, count) => {
                self.number(1);
                self.scalar(scalar);
                self.number(count);
            }
            FieldType::Variable(scalar) => {
                self.number(2);
                self.scalar(scalar);
            }
        }
    }

    fn scalar(&mut self, scalar: Scalar) {
        self.number(scalar.number());
        if let Scalar::Enum { index, is_wide } = scalar {
            self.number(index);
            self.flag(is_wide);
        }
    }
}
