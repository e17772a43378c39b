//! Distributes work to several threads: queries of many lanes, and images of many rows.
//!
//! ```
//! use tumit_viewer::parallel_map::{MAX_THREADS, map_in_order};
//!
//! assert_eq!(map_in_order(vec![1, 2, 3], MAX_THREADS, |number| number * number), [1, 4, 9]);
//! ```

use std::sync::{LazyLock, Mutex, PoisonError};

/// The results of `compute` for some jobs, in order. The jobs are distributed to as many threads as
/// there are processors, but at most `max_threads`, including the current thread.
pub fn map_in_order<I: Send, T: Send>(jobs: Vec<I>, max_threads: usize, compute: impl Fn(I) -> T + Sync) -> Vec<T> {
    let others = jobs.len().min(max_threads).min(*PROCESSORS).saturating_sub(1);
    let (remaining_jobs, results) = (Mutex::new(jobs.into_iter().enumerate()), Mutex::new(Vec::new()));
    // No code that may panic runs under a lock.
    let work = || {
        while let Some((number, job)) = { remaining_jobs.lock().unwrap_or_else(PoisonError::into_inner).next() } {
            let result = compute(job);
            results.lock().unwrap_or_else(PoisonError::into_inner).push((number, result));
        }
    };
    std::thread::scope(|scope| {
        (0..others).for_each(|_| _ = scope.spawn(work));
        work();
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_unstable_by_key(|entry| entry.0);
    results.into_iter().map(|entry| entry.1).collect()
}

/// The results of `compute` for the numbers below `count`, in order. A thread processes at least
/// `least_at_once` adjacent numbers at a time. For few of them, a thread would cost more than it
/// saves.
pub fn map_indexes<T: Send>(count: usize, least_at_once: usize, compute: impl Fn(usize) -> T + Sync) -> Vec<T> {
    map_indexes_with(count, least_at_once, || (), |_, index| compute(index))
}

/// As [`map_indexes`], with memory that `compute` uses again for adjacent numbers.
pub fn map_indexes_with<S, T: Send>(
    count: usize,
    least_at_once: usize,
    scratch: impl Fn() -> S + Sync,
    compute: impl Fn(&mut S, usize) -> T + Sync,
) -> Vec<T> {
    const JOBS: usize = 1 << 8;
    let at_once = count.div_ceil(JOBS).max(least_at_once).max(1);
    let jobs: Vec<usize> = (0..count).step_by(at_once).collect();
    let part = |first: usize| {
        let mut scratch = scratch();
        (first..count.min(first + at_once)).map(|index| compute(&mut scratch, index)).collect::<Vec<T>>()
    };
    map_in_order(jobs, MAX_THREADS, part).into_iter().flatten().collect()
}

/// Minimum number of searches in memory for which a thread is worth its cost.
pub const SEARCHES_PER_THREAD: usize = 1 << 11;

/// Maximum number of threads for a query or an image.
pub const MAX_THREADS: usize = 8;

/// The number of threads that run at the same time.
pub(crate) fn processors() -> usize {
    *PROCESSORS
}

/// Cached, because the system call takes longer than many queries.
static PROCESSORS: LazyLock<usize> = LazyLock::new(|| std::thread::available_parallelism().map_or(1, usize::from));

/// The results of `compute` for parts of a list, in order. Each part has `min_items` items or more.
/// There are at most as many parts as processors, each with a thread of its own. The current thread
/// processes the first part. The second argument of `compute` is true for the first part.
pub(crate) fn map_parts<I: Sync, T: Send>(
    list: &[I],
    min_items: usize,
    compute: impl Fn(&[I], bool) -> T + Sync,
) -> Vec<T> {
    let useful = (list.len() / min_items.max(1)).min(MAX_THREADS);
    let threads = if useful > 1 { useful.min(*PROCESSORS) } else { 1 };
    if threads <= 1 {
        return vec![compute(list, true)];
    }
    let (first, rest) = list.split_at(list.len().div_ceil(threads));
    std::thread::scope(|scope| {
        let of = &compute;
        let others: Vec<_> = rest.chunks(first.len()).map(|part| scope.spawn(move || of(part, false))).collect();
        let mut parts = vec![of(first, true)];
        parts.extend(
            others.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))),
        );
        parts
    })
}

#[cfg(test)]
mod tests {
    use super::{MAX_THREADS, map_in_order, map_indexes, map_parts};

    #[test]
    fn indexes_are_mapped_in_order() {
        for (count, least) in [(0, 1), (1, 0), (255, 1), (4_097, 1), (4_097, 100), (10, 100)] {
            let expected: Vec<usize> = (0..count).map(|index| 2 * index).collect();
            assert_eq!(map_indexes(count, least, |index| 2 * index), expected);
        }
    }

    #[test]
    fn jobs_are_done_once_each_and_in_order() {
        for count in [0, 1, 2, 100] {
            let jobs: Vec<String> = (0..count).map(|number| number.to_string()).collect();
            for max_threads in [1, 2, MAX_THREADS] {
                assert_eq!(map_in_order(jobs.clone(), max_threads, |job| job), jobs);
            }
        }
    }

    #[test]
    fn joined_parts_equal_the_list() {
        let list: Vec<u32> = (0..1_000).collect();
        for min_items in [0, 1, 7, 499, 500, 501, 2_000] {
            let parts = map_parts(&list, min_items, |part, is_first| (part.to_vec(), is_first));
            assert!(parts.len() == 1 || parts.iter().all(|part| part.0.len() <= list.len() / 2));
            assert!(parts.iter().enumerate().all(|(index, part)| part.1 == (index == 0)));
            assert_eq!(parts.into_iter().flat_map(|part| part.0).collect::<Vec<_>>(), list);
        }
        assert_eq!(map_parts(&[0_u8; 0], 1, |part, _| part.len()), [0]);
    }
}
