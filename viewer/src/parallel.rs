//! Work that is as well done by several threads: questions about many lanes, pictures of many rows.

use std::sync::{LazyLock, Mutex, PoisonError};

/// What `of` makes of each of some jobs, in order: taken in turn by as many threads as there are processors, but at most `most`. This thread
/// is one of them.
pub(crate) fn in_turn<I: Send, T: Send>(jobs: Vec<I>, most: usize, of: impl Fn(I) -> T + Sync) -> Vec<T> {
    let others = jobs.len().min(most).min(*PROCESSORS).saturating_sub(1);
    let (left, done) = (Mutex::new(jobs.into_iter().enumerate()), Mutex::new(Vec::new()));
    // A lock is held by nobody who may panic.
    let work = || {
        while let Some((number, job)) = { left.lock().unwrap_or_else(PoisonError::into_inner).next() } {
            let result = of(job);
            done.lock().unwrap_or_else(PoisonError::into_inner).push((number, result));
        }
    };
    std::thread::scope(|scope| {
        (0..others).for_each(|_| _ = scope.spawn(work));
        work();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_unstable_by_key(|done| done.0);
    done.into_iter().map(|done| done.1).collect()
}

/// Most threads of a question, or of a picture.
pub(crate) const MOST_THREADS: usize = 8;

/// How many threads run at once.
pub(crate) fn processors() -> usize {
    *PROCESSORS
}

/// Asking the system takes longer than many a question.
static PROCESSORS: LazyLock<usize> = LazyLock::new(|| std::thread::available_parallelism().map_or(1, usize::from));

/// What `of` makes of a list, some of it at a time, by as many threads as there are processors, but each with at least `least` of the list;
/// in order. This thread is one of them. `of` is told whether its part is the first.
pub(crate) fn in_parts<I: Sync, T: Send>(list: &[I], least: usize, of: impl Fn(&[I], bool) -> T + Sync) -> Vec<T> {
    let worth = (list.len() / least.max(1)).min(MOST_THREADS);
    let threads = if worth > 1 { worth.min(*PROCESSORS) } else { 1 };
    if threads <= 1 {
        return vec![of(list, true)];
    }
    let (first, rest) = list.split_at(list.len().div_ceil(threads));
    std::thread::scope(|scope| {
        let of = &of;
        let others: Vec<_> = rest.chunks(first.len()).map(|part| scope.spawn(move || of(part, false))).collect();
        let mut parts = vec![of(first, true)];
        parts.extend(
            others.into_iter().map(|other| other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))),
        );
        parts
    })
}

#[cfg(test)]
mod tests {
    use super::{MOST_THREADS, in_parts, in_turn};

    #[test]
    fn jobs_are_done_once_each_and_in_order() {
        for count in [0, 1, 2, 100] {
            let jobs: Vec<String> = (0..count).map(|number| number.to_string()).collect();
            for most in [1, 2, MOST_THREADS] {
                assert_eq!(in_turn(jobs.clone(), most, |job| job), jobs);
            }
        }
    }

    #[test]
    fn parts_are_the_list_in_order() {
        let list: Vec<u32> = (0..1_000).collect();
        for least in [0, 1, 7, 499, 500, 501, 2_000] {
            let parts = in_parts(&list, least, |part, is_first| (part.to_vec(), is_first));
            assert!(parts.len() == 1 || parts.iter().all(|part| part.0.len() <= list.len() / 2));
            assert!(parts.iter().enumerate().all(|(at, part)| part.1 == (at == 0)));
            assert_eq!(parts.into_iter().flat_map(|part| part.0).collect::<Vec<_>>(), list);
        }
        assert_eq!(in_parts(&[0_u8; 0], 1, |part, _| part.len()), [0]);
    }
}
