//! Sorts an array by odd-even transposition with several threads, and records each exchange.
//!
//! In even phases, the threads compare the elements at positions 0 and 1, 2 and 3, and so on; in
//! odd phases those at 1 and 2, 3 and 4. After as many phases as there are elements, the array is
//! sorted.

use std::sync::{Barrier, Mutex, PoisonError};
use std::time::Duration;

use clap::Parser;
use trace::sort;

/// The tracing functions of the spec.
mod trace {
    tracer_rt::events!("sort.tumit");
}

/// Sorts an array by odd-even transposition with several threads.
#[derive(Debug, Parser)]
struct SortArguments {
    /// The number of elements
    #[arg(long, default_value_t = 48, value_parser = clap::value_parser!(u32).range(2..=4096))]
    elements: u32,
    /// The number of threads
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..=256))]
    threads: u32,
    /// The time of a comparison in microseconds, so that the elements can be watched
    #[arg(long, default_value_t = 150)]
    pause: u64,
}

/// An element of the array.
#[derive(Clone, Copy, Debug)]
struct SortedElement {
    number: u32,
    value: u32,
}

/// Two neighbours, which only one thread compares in a phase.
type ArrayPlace = Mutex<SortedElement>;

/// A permutation of the values from 1, which looks random.
fn values(count: u32) -> Vec<u32> {
    let mut values: Vec<u32> = (1..=count).collect();
    let mut state = 0x9E37_79B9_u32;
    for last in (1..values.len()).rev() {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        values.swap(last, (state >> 8) as usize % (last + 1));
    }
    values
}

/// Compares two neighbours, and exchanges them if they are in the wrong order.
fn compare(array: &[ArrayPlace], left: usize, thread: u32) -> bool {
    let place = |at: usize| array[at].lock().unwrap_or_else(PoisonError::into_inner);
    let (mut one, mut other) = (place(left), place(left + 1));
    if one.value <= other.value {
        return false;
    }
    std::mem::swap(&mut *one, &mut *other);
    record_place(*one, left, thread);
    record_place(*other, left + 1, thread);
    true
}

fn record_place(element: SortedElement, position: usize, thread: u32) {
    sort::placed(element.number, u32::try_from(position).unwrap_or(u32::MAX), element.value, thread);
}

/// The phases of one thread. Returns the number of its exchanges.
fn sort_part(arguments: &SortArguments, array: &[ArrayPlace], barrier: &Barrier, thread: u32) -> u32 {
    tracer_rt::set_stream_label(&format!("Thread {thread}"));
    let (threads, number) = (arguments.threads as usize, thread as usize);
    let pairs = array.len() / 2;
    let mine = pairs * number / threads..pairs * (number + 1) / threads;
    if thread == 0 {
        for (position, place) in array.iter().enumerate() {
            record_place(*place.lock().unwrap_or_else(PoisonError::into_inner), position, thread);
        }
    }
    barrier.wait();
    let mut exchanges = 0;
    for phase in 0..arguments.elements {
        {
            let _span = sort::compare(phase);
            for pair in mine.clone() {
                let left = 2 * pair + phase as usize % 2;
                if left + 1 < array.len() {
                    exchanges += u32::from(compare(array, left, thread));
                    std::thread::sleep(Duration::from_micros(arguments.pause));
                }
            }
        }
        let _span = sort::wait(phase);
        barrier.wait();
    }
    exchanges
}

#[expect(clippy::print_stdout, reason = "a program may print its result")]
fn main() {
    let arguments = SortArguments::parse();
    let array: Vec<ArrayPlace> = (0..)
        .zip(values(arguments.elements))
        .map(|(number, value)| Mutex::new(SortedElement { number, value }))
        .collect();
    let barrier = Barrier::new(arguments.threads as usize);
    let exchanges: u32 = std::thread::scope(|scope| {
        let (arguments, array, barrier) = (&arguments, &array, &barrier);
        let threads: Vec<_> = (0..arguments.threads)
            .map(|thread| scope.spawn(move || sort_part(arguments, array, barrier, thread)))
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("a thread of the sort panicked")).sum()
    });
    tracer_rt::finish();
    let values = array.iter().map(|place| place.lock().unwrap_or_else(PoisonError::into_inner).value);
    assert!(values.is_sorted(), "as many phases as elements sort the array");
    println!(
        "counts: elements={} exchanges={exchanges} events={}",
        arguments.elements,
        arguments.elements + 2 * exchanges
    );
}
