//! Functions with `#[traced]`, and programs that call them.

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use tracer_rt::traced;

tracer_rt::events!("tests/spans.tumit");

mod compiled_out {
    tracer_rt::events!("tests/spans.tumit", off = [NET, QUIET]);
}

pub(crate) fn run(case: &str) {
    match case {
        "functions" => functions(),
        "async functions" => async_functions(),
        "unwinding" => unwinding(),
        "moved" => moved(),
        "dropped" => dropped(),
        "guards" => guards(),
        "futures" => futures(),
        "switched" => switched(),
        "kept" => kept(),
        "removed" => removed_level(),
        other => panic!("no case {other}"),
    }
}

/// A future that is ready at the last of a number of polls.
struct CountdownFuture(u32);

impl Future for CountdownFuture {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        net::tick(self.0);
        if self.0 == 0 {
            return Poll::Ready(());
        }
        self.0 -= 1;
        Poll::Pending
    }
}

fn poll_once<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = poll_once(future.as_mut()) {
            return output;
        }
    }
}

struct Peer {
    number: u32,
    name: String,
}

trait Work {
    fn work(&self, factor: u32) -> u32;

    #[traced(net::step(1_000))]
    fn by_default(&self) -> u32 {
        1
    }

    fn later(&self) -> impl Future<Output = String> + Send;

    async fn soon(self) -> u32;
}

impl Work for Peer {
    #[traced(net::step(self.number * factor))]
    fn work(&self, factor: u32) -> u32 {
        self.number + factor
    }

    #[traced(net::fetch(&self.name))]
    async fn later(&self) -> String {
        CountdownFuture(1).await;
        self.name.clone()
    }

    #[traced(net::step(self.number))]
    async fn soon(mut self) -> u32 {
        CountdownFuture(0).await;
        self.number += 1;
        self.number
    }
}

impl Peer {
    #[traced(net::step(number))]
    fn new(number: u32) -> Self {
        Self { number, name: format!("peer {number}") }
    }

    #[traced(net::step(self.number))]
    fn consumed(self) -> String {
        self.name
    }

    #[traced(net::step(self.number))]
    fn changed(&mut self, by: impl Into<u32>) {
        self.number += by.into();
    }

    #[traced(net::step(self.number))]
    fn borrowed<'a>(&'a self, other: &'a str) -> impl Iterator<Item = &'a str> {
        [self.name.as_str(), other].into_iter()
    }
}

#[traced(net::step(a + b + c))]
fn patterns((a, b): (u32, u32), [c, ..]: [u32; 3], Peer { number, .. }: &Peer) -> Option<u32> {
    let early = number.checked_sub(a)?;
    if early > 100 {
        return None;
    }
    Some(early + b + c)
}

#[traced(net::step(u32::from(value.clone().into())))]
fn generic<const N: usize, T>(value: T) -> usize
where
    T: Clone + Into<u8>,
{
    drop(value);
    N
}

#[traced(net::bare)]
extern "C" fn foreign() {}

/// # Safety
/// None is needed.
#[traced(net::bare())]
unsafe fn careful() {}

#[traced(net::step(7))]
fn diverging() -> ! {
    #![allow(clippy::panic, reason = "an inner attribute stays inside")]
    panic!("on purpose");
}

#[traced(net::fetch("by hand"), task = 77)]
fn part_of_a_task() {}

fn functions() {
    let mut peer = Peer::new(1);
    peer.changed(2u8);
    assert_eq!(peer.work(10), 13);
    assert_eq!(peer.by_default(), 1);
    assert_eq!(peer.borrowed("x").count(), 2);
    assert_eq!(patterns((1, 2), [3, 0, 0], &peer), Some(7));
    assert_eq!(patterns((9, 2), [3, 0, 0], &peer), None);
    assert_eq!(peer.consumed(), "peer 1");
    assert_eq!(generic::<5, _>(200u8), 5);
    foreign();
    // SAFETY: it does nothing.
    unsafe { careful() };
    part_of_a_task();
    another_task();
}

#[traced(net::fetch("a task of its own"))]
fn another_task() {}

fn unwinding() {
    assert!(std::panic::catch_unwind(|| diverging()).is_err());
}

#[traced(net::fetch(url))]
async fn fetch(url: &str, times: u32) -> usize {
    CountdownFuture(times).await;
    url.len()
}

#[traced(net::step(n))]
async fn failing<T: std::str::FromStr>(n: u32, text: String) -> Result<T, Box<dyn std::error::Error>>
where
    T::Err: std::error::Error + 'static,
{
    let value = text.parse()?;
    if n == 0 {
        return Err("zero".into());
    }
    CountdownFuture(n).await;
    drop(text);
    Ok(value)
}

/// The type of the result is that of the signature, not that of the first `return`.
#[traced(net::bare)]
async fn coerced(add_one: bool) -> Box<dyn Fn(u32) -> u32> {
    if add_one {
        return Box::new(|n| n + 1);
    }
    Box::new(|n| n * 2)
}

/// A return type without a name, and one with an elided lifetime.
#[traced(net::bare)]
async fn nameless(text: &str) -> (impl Iterator<Item = char> + '_, &str) {
    (text.chars(), text)
}

#[traced(net::step(7))]
async fn forever() -> ! {
    loop {
        CountdownFuture(0).await;
        std::future::pending::<()>().await;
    }
}

/// Arguments that are not `Sync` are moved, not borrowed, so that the future is still `Send`.
#[traced(net::bare)]
async fn takes(receiver: std::sync::mpsc::Receiver<u32>) -> Option<u32> {
    CountdownFuture(0).await;
    receiver.try_recv().ok()
}

fn async_functions() {
    assert_eq!(block_on(fetch("a", 1)), 1);
    assert_eq!(block_on(failing::<u32>(1, "12".into())).unwrap(), 12);
    assert!(block_on(failing::<u32>(1, "x".into())).is_err());
    assert!(block_on(failing::<u32>(0, "1".into())).is_err());
    assert_eq!(block_on(coerced(true))(4), 5);
    let peer = Peer { number: 4, name: "p".into() };
    assert_eq!(block_on(peer.later()), "p");
    assert_eq!(block_on(peer.soon()), 5);
    let (letters, text) = block_on(nameless("ab"));
    assert_eq!((letters.count(), text), (2, "ab"));
    assert!(poll_once(pin!(forever())).is_pending());
    let (sender, receiver) = std::sync::mpsc::channel();
    sender.send(3).unwrap();
    assert_eq!(std::thread::spawn(|| block_on(sent(takes(receiver)))).join().unwrap(), Some(3));
}

fn sent<T: Send>(value: T) -> T {
    value
}

/// Polls each time on another thread.
fn moved() {
    let mut future = sent(Box::pin(async { fetch("far", 3).await }));
    let mut is_done = false;
    while !is_done {
        (future, is_done) = std::thread::spawn(move || {
            let is_done = poll_once(future.as_mut()).is_ready();
            (future, is_done)
        })
        .join()
        .unwrap();
    }
}

fn dropped() {
    let mut first = Box::pin(fetch("first", 5));
    let mut second = Box::pin(fetch("second", 5));
    for _ in 0..2 {
        assert!(poll_once(first.as_mut()).is_pending());
        assert!(poll_once(second.as_mut()).is_pending());
    }
    drop(first);
    drop(fetch("never polled", 1));
    assert!(poll_once(second.as_mut()).is_pending());
    net::tick(99);
}

fn guards() {
    let task = tracer_rt::new_task();
    {
        let _part = net::fetch(task, "a");
        let _inner = net::ask(tracer_rt::new_task(), 8);
    }
    drop(net::fetch(task, "a"));
    drop(net::step(1));
}

#[traced(net::fetch(&url))]
fn boxed(url: String) -> Pin<Box<dyn Future<Output = usize> + Send>> {
    net::tick(50);
    Box::pin(async move {
        CountdownFuture(1).await;
        url.len()
    })
}

#[traced(net::ask(peer))]
fn tail(peer: u32) -> impl Future<Output = u32> + Send {
    let twice = peer * 2;
    async move {
        CountdownFuture(0).await;
        twice
    }
}

#[traced(net::step(n))]
fn given(n: u32) -> impl Future<Output = ()> {
    if n > 0 { CountdownFuture(n) } else { CountdownFuture(1) }
}

fn futures() {
    assert_eq!(block_on(boxed("abc".into())), 3);
    assert_eq!(block_on(tail(4)), 8);
    block_on(given(1));
}

#[traced(quiet::hidden(n, &name))]
async fn hidden(n: u32, name: String) -> String {
    CountdownFuture(2).await;
    name
}

fn switched() {
    let mut early = Box::pin(hidden(1, "early".into()));
    assert!(poll_once(early.as_mut()).is_pending());
    tracer_rt::set_level("QUIET", true);
    assert!(poll_once(early.as_mut()).is_pending());
    let mut late = Box::pin(hidden(2, "late".into()));
    assert!(poll_once(late.as_mut()).is_pending());
    tracer_rt::set_level("QUIET", false);
    assert!(poll_once(late.as_mut()).is_pending());
    tracer_rt::set_level("QUIET", true);
    assert_eq!(poll_once(late.as_mut()), Poll::Ready("late".to_owned()));
}

/// The kept arguments do not borrow, so that the body may move their originals.
#[traced(net::rich(&name, &raw, &list, &[Color::Red, Color::DarkBlue], [Color::DarkBlue; 2], Color::Red, address))]
async fn gives_away(name: String, raw: Vec<u8>, list: Vec<u16>, address: *const u8) {
    drop((name, raw, list));
    CountdownFuture(1).await;
}

fn kept() {
    block_on(gives_away("a name".into(), vec![1, 2], vec![300], std::ptr::without_provenance(0x20)));
    let shades = [Color::Red, Color::DarkBlue];
    let address = std::ptr::without_provenance::<u8>(0x20);
    drop(net::rich("a name", &[1, 2], &[300], &shades, [Color::DarkBlue; 2], Color::Red, address));
}

#[traced(compiled_out::net::fetch(&name))]
async fn left_out(name: String) -> String {
    CountdownFuture(1).await;
    name
}

#[traced(compiled_out::quiet::hidden(1, "x"), task = 5)]
fn left_out_too() {}

fn removed_level() {
    assert_eq!(block_on(left_out("a".into())), "a");
    left_out_too();
    drop(compiled_out::net::fetch(1, "b"));
    compiled_out::net::tick(3);
}
