//! The state of a simulation as bytes. It can be saved after any operation, and another simulation
//! can continue from it.
//!
//! The saved state includes everything that affects later operations: types, values, containers,
//! open entities, link endpoints that wait, and counted diagnostics. It also includes the receiver
//! of the entities, if that is serialisable, as [`EntityGatherer`](super::EntityGatherer) and
//! [`EntityCounts`](super::EntityCounts) are.
//!
//! Any other format of `serde` works, too. This format adds a head, which detects foreign data,
//! other versions and damage.

use std::io::{self, Read, Write};

use bincode::config::standard;
use bincode::serde::{decode_from_slice, encode_to_vec};
use serde::Serialize;
use serde::de::DeserializeOwned;
use twox_hash::XxHash3_64;

use super::entity_sink::EntitySink;
use super::simulation::Simulation;

/// The first bytes of a saved state.
const MAGIC: [u8; 8] = *b"TMTSIM\r\n";
/// The version of the format. It increases with each change of the saved data.
const VERSION: u32 = 10;
/// Bytes of magic, version, length and checksum.
const HEAD: usize = 8 + 4 + 8 + 8;

/// The reason why a state was not loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The input could not be read.
    #[error("cannot read the saved state: {0}")]
    Io(#[from] io::Error),
    /// The input is not a saved state.
    #[error("this is not a saved state of a simulation: its first bytes differ")]
    Foreign,
    /// Another version wrote the state.
    #[error("the saved state has version {version}, expected {VERSION}: simulate the trace from its start")]
    Version {
        /// The version of the state.
        version: u32,
    },
    /// The state is truncated or damaged.
    #[error("the saved state is damaged: {0}; simulate the trace from its start")]
    Damaged(String),
}

impl<E: EntitySink + Serialize> Simulation<E> {
    /// Writes the state. Its size is that of the names, plus about 50 bytes per container and open
    /// state, plus that of the receiver of the entities.
    ///
    /// ```
    /// use tumit_viewer::sim::{EntityCounts, Simulation};
    ///
    /// let simulation = Simulation::into_entities("example", EntityCounts::default());
    /// let mut saved = Vec::new();
    /// simulation.save(&mut saved)?;
    /// let resumed = Simulation::<EntityCounts>::load(&mut saved.as_slice())?;
    /// assert_eq!(resumed.entities(), simulation.entities());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the state cannot be written.
    pub fn save(&self, out: &mut impl Write) -> io::Result<()> {
        let body = encode_to_vec(self, standard()).map_err(io::Error::other)?;
        let mut head = Vec::with_capacity(HEAD);
        head.extend(MAGIC);
        head.extend(VERSION.to_le_bytes());
        head.extend((body.len() as u64).to_le_bytes());
        head.extend(XxHash3_64::oneshot(&body).to_le_bytes());
        out.write_all(&head)?;
        out.write_all(&body)
    }
}

impl<E: EntitySink + DeserializeOwned> Simulation<E> {
    /// Reads a state that [`Self::save`] wrote. The simulation continues with the operations after
    /// those that had been processed by then.
    ///
    /// # Errors
    /// See [`CheckpointError`].
    pub fn load(input: &mut impl Read) -> Result<Self, CheckpointError> {
        let mut head = Vec::new();
        input.take(HEAD as u64).read_to_end(&mut head)?;
        let part = |offset: usize, len: usize| head.get(offset..offset + len);
        if part(0, 8) != Some(&MAGIC) {
            return Err(CheckpointError::Foreign);
        }
        let cut_error = || CheckpointError::Damaged("it is cut short".to_owned());
        let version =
            part(8, 4).and_then(<[u8]>::first_chunk).map(|bytes| u32::from_le_bytes(*bytes)).ok_or_else(cut_error)?;
        if version != VERSION {
            return Err(CheckpointError::Version { version });
        }
        let number = |offset| {
            part(offset, 8).and_then(<[u8]>::first_chunk).map(|bytes| u64::from_le_bytes(*bytes)).ok_or_else(cut_error)
        };
        let (length, checksum) = (number(12)?, number(20)?);
        let mut body = Vec::new();
        input.take(length).read_to_end(&mut body)?;
        if body.len() as u64 != length {
            return Err(cut_error());
        }
        if XxHash3_64::oneshot(&body) != checksum {
            return Err(CheckpointError::Damaged("its checksum is wrong".to_owned()));
        }
        let (mut simulation, _): (Self, _) =
            decode_from_slice(&body, standard()).map_err(|error| CheckpointError::Damaged(error.to_string()))?;
        simulation.links.overflow_to(simulation.entities.overflow());
        Ok(simulation)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tumit_paje::read::PajeReader;
    use tumit_paje::time::GlobalNanos;
    use tumit_paje::{PajeSink as _, diagnostic_texts};

    use super::CheckpointError;
    use crate::query::TimelineSource as _;
    use crate::sim::{EntityCounts, Simulation};

    const HEADER: &str = include_str!("../../tests/header.paje");
    const TREE: &str = "\
0 P 0 Process
0 T P Thread
2 S T Activity
1 V T Load \"0.5 0.5 0.5\"
3 E T Mark \"0.1 0.2 0.3\"
4 L 0 T T Message
5 a S A \"0 1 0\"
5 b S B \"1 0 0\"
5 l L M \"1 1 1\"
6 0 p 0 P p
6 0 t p T t
6 0 u p T u
";

    fn line() -> impl Strategy<Value = String> {
        let (time, container) = (0..30_u32, prop::sample::select(vec!["t", "u", "p", "nobody"]));
        (0..10_usize, time, container, 0..4_u32).prop_map(|(kind, time, container, key)| match kind {
            0 => format!("11 {time} {container} S a"),
            1 => format!("12 {time} {container} S b"),
            2 => format!("13 {time} {container} S"),
            3 => format!("14 {time} {container} S"),
            4 => format!("8 {time} {container} V {key}"),
            5 => format!("9 {time} {container} V {key}"),
            6 => format!("15 {time} 0 L {container} l k{key}"),
            7 => format!("16 {time} 0 L {container} l k{key}"),
            8 => format!("17 {time} {container} E x{key}"),
            _ => format!("6 {time} c{key} p T c{key}\n7 {} T c{key}", time + 1),
        })
    }

    /// Rows and diagnostics of a simulation, ended by this function.
    fn outcome(simulation: Simulation) -> (String, Vec<String>) {
        let store = simulation.into_store();
        let mut rows = Vec::new();
        crate::text::entity_rows::write(&store, &mut rows).unwrap();
        (String::from_utf8(rows).unwrap(), diagnostic_texts(&store.summary().diagnostics))
    }

    proptest! {
        #[test]
        fn a_resumed_simulation_gives_the_same_result(lines in prop::collection::vec(line(), 0..60), cut in 0..200_usize) {
            let text = format!("{HEADER}{TREE}{}\n", lines.join("\n"));
            let all = text.lines().count();
            let mut reference = Simulation::new("t");
            PajeReader::new(text.as_bytes()).read(&mut reference).unwrap();
            let mut reader = PajeReader::new(text.as_bytes());
            let mut first = Simulation::new("t");
            for _ in 0..cut % all {
                reader.next(&mut first).unwrap();
            }
            let mut bytes = Vec::new();
            first.save(&mut bytes).unwrap();
            // Later operations on the saved simulation must not matter.
            first.finish(GlobalNanos(1)).unwrap();
            let mut second: Simulation = Simulation::load(&mut bytes.as_slice()).unwrap();
            while reader.next(&mut second).unwrap() {}
            reader.finish(&mut second).unwrap();
            prop_assert_eq!(second.faults(), reference.faults());
            prop_assert_eq!(outcome(second), outcome(reference));
        }
    }

    #[test]
    fn other_files_than_saved_states_are_rejected() {
        let mut simulation = Simulation::into_entities("t", EntityCounts::default());
        PajeReader::new(format!("{HEADER}{TREE}12 1 t S a\n").as_bytes()).read(&mut simulation).unwrap();
        let mut bytes = Vec::new();
        simulation.save(&mut bytes).unwrap();
        let load =
            |bytes: &[u8]| Simulation::<EntityCounts>::load(&mut &*bytes).map(|simulation| *simulation.entities());
        assert_eq!(load(&bytes).unwrap(), *simulation.entities());
        assert!(matches!(load(b"%EventDef PajeSetState 1"), Err(CheckpointError::Foreign)));
        assert!(matches!(load(b""), Err(CheckpointError::Foreign)));
        for length in 8..bytes.len() {
            assert!(
                matches!(load(&bytes[..length]), Err(CheckpointError::Damaged(reason)) if reason.contains("short")),
                "{length}"
            );
        }
        for byte_index in 0..bytes.len() {
            let mut damaged_bytes = bytes.clone();
            damaged_bytes[byte_index] ^= 4;
            let error = load(&damaged_bytes).expect_err("it is damaged");
            assert!(
                matches!(
                    (byte_index, &error),
                    (..8, CheckpointError::Foreign)
                        | (8..12, CheckpointError::Version { .. })
                        | (12.., CheckpointError::Damaged(_))
                ),
                "{byte_index}: {error}"
            );
        }
    }
}
