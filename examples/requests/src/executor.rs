//! A minimal executor for futures on several threads: a queue of the futures that can continue. A
//! real program would use a crate.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake};
use std::time::{Duration, Instant};

type BoxedFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A future, and the queue that receives it when it can continue.
struct Task {
    future: Mutex<Option<BoxedFuture>>,
    queue: Sender<Arc<Task>>,
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        // After all futures have ended, the queue has no receiver.
        let _ = self.queue.send(Arc::clone(&self));
    }
}

/// Runs all futures to their ends.
pub(crate) fn run<F: Future<Output = ()> + Send + 'static>(threads: usize, futures: impl Iterator<Item = F>) {
    let (queue, ready) = channel();
    for future in futures {
        let future: BoxedFuture = Box::pin(future);
        Arc::new(Task { future: Mutex::new(Some(future)), queue: queue.clone() }).wake();
    }
    // The queue ends with the last task that could enter it.
    drop(queue);
    let ready = Mutex::new(ready);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| while poll_next(&ready) {});
        }
    });
}

/// Polls a future that can continue; false when there will be none.
fn poll_next(ready: &Mutex<Receiver<Arc<Task>>>) -> bool {
    let next = ready.lock().unwrap_or_else(PoisonError::into_inner).recv();
    let Ok(task) = next else { return false };
    let waker = Arc::clone(&task).into();
    let mut place = task.future.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(future) = place.as_mut()
        && future.as_mut().poll(&mut Context::from_waker(&waker)).is_ready()
    {
        *place = None;
    }
    true
}

/// Waits; a separate thread sleeps and then wakes the future.
pub(crate) async fn wait(duration: Duration) {
    let until = Instant::now() + duration;
    let mut has_timer = false;
    poll_fn(|context| {
        if Instant::now() >= until {
            return Poll::Ready(());
        }
        if !has_timer {
            has_timer = true;
            let waker = context.waker().clone();
            std::thread::spawn(move || {
                std::thread::sleep(until.saturating_duration_since(Instant::now()));
                waker.wake();
            });
        }
        Poll::Pending
    })
    .await;
}
