//! "Did you mean": the candidate nearest to a mistyped name.
//!
//! The distance is the number of insertions, deletions, replacements and swaps of adjacent
//! letters ("optimal string alignment").

use strsim::osa_distance;

/// A help text that names the candidate nearest to `name`, if one is near enough.
#[must_use]
pub fn did_you_mean<'a>(wrong: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest_name(wrong, candidates).map(|name| format!("did you mean `{name}`?"))
}

fn nearest_name<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = name.len().clamp(3, 9) / 3;
    let letters = letter_counts(name);
    candidates
        .into_iter()
        .filter(|candidate| *candidate != name && (2..=64).contains(&name.len()) && candidate.len() <= 64)
        .filter(|candidate| candidate.len().abs_diff(name.len()) <= limit && most_letters(candidate, &letters, limit))
        .map(|candidate| (osa_distance(&name.to_lowercase(), &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The number of occurrences of each letter in a name, without distinction of case.
fn letter_counts(name: &str) -> [i16; 32] {
    let mut counts = [0; 32];
    name.bytes().for_each(|byte| counts[usize::from(byte % 32)] += 1);
    counts
}

/// A cheap test before the distance is computed: whether the letter counts allow a small distance.
///
/// Each edit of a name changes at most two of these counts by one.
fn most_letters(candidate: &str, letters: &[i16; 32], limit: usize) -> bool {
    let candidate_counts = letter_counts(candidate);
    let differ: u32 = letters.iter().zip(&candidate_counts).map(|(a, b)| u32::from(a.abs_diff(*b))).sum();
    differ as usize <= 2 * limit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        assert_eq!(nearest_name("thraed", ["node", "thread"]), Some("thread"));
        assert_eq!(nearest_name("packin", ["working", "packing"]), Some("packing"));
        assert_eq!(nearest_name("COM", ["com_layer", "com"]), Some("com"));
        assert_eq!(nearest_name("zzz", ["working", "packing"]), None);
        assert_eq!(nearest_name("", ["abc"]), None);
    }
}
