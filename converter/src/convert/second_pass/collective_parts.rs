//! States that are parts of collective operations.

use std::io;

use super::emitter::Emitter;
use super::entities::{EntityExtras, EntityHead, InstanceValue};
use crate::convert::operation_numbers::OperationNumber;
use crate::rules::eval::RecordScope;
use crate::rules::program::{CollectivePattern, ProgramAction};
use crate::rules::rule_value::RuleValue;
use tumit_paje::collective;

impl Emitter<'_> {
    /// Sends a state with the fields of its part in a collective operation.
    pub(super) fn collective_part(
        &mut self,
        scope: &RecordScope<'_>,
        (action, pattern): (&ProgramAction, &CollectivePattern),
        head: EntityHead,
        main: InstanceValue,
    ) -> io::Result<()> {
        let container = self.instances.get(main.instance).node;
        let Self { operations, scratch, symbols, .. } = self;
        let operation = operations.next_part(scope, pattern, container, scratch, symbols)?;
        let (mut fields, mut related) = self.fields(scope, action)?;
        if let Some(root) = &pattern.root
            && !self.is_ambiguous(scope, root)
        {
            let root = self.locate(scope, root)?;
            related.insert(0, (collective::ROOT, self.instances.get(root).id));
            let is_root = self.contains(root, main.instance) || self.contains(main.instance, root);
            fields.insert(0, (collective::IS_ROOT, RuleValue::Int(is_root.into())));
        }
        match operation {
            OperationNumber::Known(number) => {
                fields.insert(0, (collective::OPERATION, RuleValue::from_unsigned(number)));
            }
            OperationNumber::Uncounted => self.counts.unmatched_parts += 1,
            OperationNumber::NotComputable => {
                if let Some(code) = pattern.keys.first() {
                    self.note_failure(scope.program, code);
                }
            }
        }
        self.emit_action(head, main, EntityExtras { fields: &fields, related_containers: &related }, scope.source())
    }

    /// Whether a container is another one, or contains it.
    fn contains(&self, outer: usize, mut inner: usize) -> bool {
        while inner != outer {
            let Some(parent) = self.instances.get(inner).parent else { return false };
            inner = parent;
        }
        true
    }
}
