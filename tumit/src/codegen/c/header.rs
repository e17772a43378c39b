//! The data of a header, and its sections that depend on the whole spec.

use std::fmt::Write as _;

use super::c_text::{VERSION, comment, doc, wrap};
use super::names::CNames;
use crate::Spec;
use crate::codegen::backend::CodegenOptions;

/// Data that all sections of a header need.
pub(super) struct CHeader<'a> {
    pub(super) spec: &'a Spec,
    pub(super) options: &'a CodegenOptions,
    pub(super) names: &'a CNames,
    /// Hash of the schema. It distinguishes two versions of a spec that are linked into one
    /// program.
    pub(super) hash: u32,
}

impl CHeader<'_> {
    /// The suffix of names that all units share which include the header of exactly this spec.
    pub(super) fn tag(&self) -> String {
        format!("{}_{:08x}", self.names.trace, self.hash)
    }

    /// The variable that switches a level on and off.
    pub(super) fn word(&self, level: &str) -> String {
        format!("tumit1_level_{}_{level}", self.tag())
    }

    pub(super) fn banner(&self) -> String {
        let trace = &self.names.trace;
        let root =
            self.spec.sources.first().map_or("a spec", |source| source.path.rsplit('/').next().unwrap_or_default());
        let mut out = String::new();
        let _ = writeln!(
            out,
            "/* Tracing functions of the trace `{trace}`, generated from {} by tumit {VERSION}.",
            comment(root)
        );
        out.push_str(
            " * You may copy and use this file without restrictions. It needs a C99 or C++11 compiler on Linux,\n \
             * and no library; link with -pthread.\n *\n",
        );
        for line in self.spec.doc.lines() {
            let _ = writeln!(out, "{}", format!(" * {}", comment(line)).trim_end());
        }
        let level = self.spec.levels.first().map_or("LEVEL", |level| level.name.as_str());
        let level_switch = self.names.level_switch(self.names.levels.first().map_or("LEVEL", String::as_str));
        let switch = format!("TUMIT_LEVELS={level}=off");
        let policy = format!("TUMIT_POLICY={level}=block");
        let call = format!("tumit1_set_level(\"{level}\", 0)");
        let _ = write!(
            out,
            " *
 * Environment variables of the traced program:
 *   TUMIT_TRACE=run.tmt     the run folder [default: named after the program]
 *   {switch:<23} switches levels at the start of the program
 *   TUMIT_MEMORY=64M        memory for records that are not in the file yet [default: 16M]
 *   {policy:<23} threads wait instead of dropping records of the level;
 *                           =overwrite keeps the newest records, until tumit1_dump() or the end
 *   TUMIT_BUFFERS=private   keeps records in private memory instead of a live file NAME.live; a
 *                           killed program then loses its last records
 *   TUMIT_LIVE=folder       the folder of the live file [default: the run folder]
 *   TUMIT_START=1           starts the recorder with the program, so that `tumit level` can
 *                           switch on levels before the first record
 * Macros, defined before this file is included:
 *   #define TUMIT_OFF       removes all tracing
 *   #define {level_switch:<15} removes the level {level}
 *   #define TUMIT_EXTERN    uses the recorder of another file of the program, which includes this
 *                           header without this macro
 *   #define TUMIT_MPI       for programs with MPI: in the file with the recorder, and in files that
 *                           call MPI_Init and MPI_Finalize
 *   #define TUMIT_LZ4       compresses with liblz4: link with -llz4
 *   #define TUMIT_NO_THREAD no writer thread: threads write their own records
 *   #define TUMIT_CLOCK()   another clock, with TUMIT_CLOCK_HZ and TUMIT_CLOCK_DOMAIN
 * Functions at run time:
 *   tumit1_start(&config)                   starts the recorder with options instead of variables
 *   {call:<39} switches a level off
 *   tumit1_set_thread_name(\"name\")          names the calling thread
 *   tumit1_now(), tumit1_new_task()         values for parameters of type `date`, and for `task`
 *   tumit1_set_clock(ticks, hz, domain)     sets another clock, before the first record
 *   tumit1_flush(), tumit1_dump()           write all records; write the records of levels that
 *                                           overwrite
 *   tumit1_pause(), tumit1_resume(), tumit1_finish(), tumit1_get_stats(&stats)
 * A record is in NAME.live when its call returns, so a killed program loses no records. A writer
 * thread writes the records to NAME.tmt. */

"
        );
        out
    }

    /// Opens the section of this spec. Another spec can have the same name, or names that become
    /// the same in C.
    pub(super) fn guard(&self, out: &mut String, guard: &str) {
        let trace = &self.names.trace;
        let hash = self.hash;
        let _ = write!(
            out,
            "
#if defined {guard} && {guard} != 0x{hash:08x}
#error \"tumit: two different specs have the name `{trace}`: rename one, or include them in different files\"
#endif
#ifndef {guard}
#define {guard} 0x{hash:08x}
"
        );
        let names: Vec<_> =
            self.names.identifiers(self.spec).map(|(name, _)| name).filter(|name| self.names.may_meet(name)).collect();
        if names.is_empty() {
            return;
        }
        out.push_str("\n/* Another spec in the same file must not define these macros. */\n");
        let conditions: Vec<_> = names.iter().map(|name| format!("defined TUMIT_HAS_{name}")).collect();
        out.push_str(&wrap("#if ", &conditions, " ||", " \\\n    ", ""));
        let _ = writeln!(
            out,
            "\n#error \"tumit: another spec in this file generates some of the names of `{trace}`: rename them in one spec, \
             or include the headers in different files\"\n#endif"
        );
        for name in &names {
            let _ = writeln!(out, "#define TUMIT_HAS_{name} 1");
        }
    }

    /// Writes a macro per level: its variable, or 0 when its functions are removed.
    pub(super) fn switches(&self, out: &mut String) {
        out.push_str("\n/* The levels: 0 if off. */\n");
        for (level, name) in self.spec.levels.iter().zip(&self.names.levels) {
            let level_macro = self.names.level_macro(name);
            doc(out, &level.doc);
            if self.options.removed_levels.contains(&level.name) {
                let _ = writeln!(out, "#define {level_macro} 0u");
                continue;
            }
            let _ = write!(
                out,
                "#if defined TUMIT_OFF || defined {level_switch}\n#define {level_macro} 0u\n#else\n#define {level_macro} tumit1_word(&{word})\n#endif\n",
                level_switch = self.names.level_switch(name),
                word = self.word(name)
            );
        }
    }
}
