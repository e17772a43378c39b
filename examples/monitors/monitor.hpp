// Monitors as in a Java virtual machine: a lock that its owner may enter again, and a queue of
// threads that wait for a notification. The operating system provides the lock and determines the
// next owner.
//
// Operations under the lock are recorded under it, so that the timestamps of records have the order
// of the operations.

#ifndef MONITOR_HPP
#define MONITOR_HPP

#include "monitors_trace.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <sys/syscall.h>
#include <unistd.h>

// Expected contents of the trace, counted where they are recorded, for comparison.
struct Counts {
    std::atomic<unsigned long> threads{0}, monitors{0}, calls{0}, states{0}, releases{0}, notices{0};
};
extern Counts counts;

// The system's id of this thread; rules name it `tid`.
inline uint64_t this_thread() {
    static thread_local const uint64_t number = static_cast<uint64_t>(syscall(SYS_gettid));
    return number;
}

// A method call, from its begin to its end in any way.
class Call {
public:
    Call(const char *class_name, const char *method) : span(class_name, method) {
        counts.calls++;
        counts.states++;
    }

private:
    monitors_method_scope span;
};

class Monitor {
public:
    Monitor(const char *class_name, uint16_t number) : id(next++) {
        monitors_created(id, class_name, number);
        released = noticed = tumit1_now();
        counts.monitors++;
        counts.states++;
    }
    Monitor(const Monitor &) = delete;
    Monitor &operator=(const Monitor &) = delete;

    void enter() {
        if (owner == this_thread()) {
            depth++;
            return;
        }
        if (lock.try_lock()) {
            own(monitors_entry_free);
            return;
        }
        monitors_blocked(id, owner);
        counts.states++;
        lock.lock();
        own(monitors_entry_contended);
    }

    void exit() {
        if (--depth > 0) {
            return;
        }
        monitors_left(id);
        counts.states++;
        disown();
        lock.unlock();
    }

    // Releases the monitor, waits for a notification by another thread, and owns the monitor again
    // with the same depth.
    void wait() {
        const unsigned before = depth;
        const uint64_t known = notices;
        std::unique_lock<std::mutex> held(lock, std::adopt_lock);
        monitors_waits(id);
        counts.states += 2;
        disown();
        notified.wait(held, [&] { return notices > known; });
        held.release();
        monitors_woken(id, notices, notifier, noticed);
        counts.states++;
        counts.notices++;
        own(monitors_entry_notified);
        depth = before;
    }

    // Only the owner may notify.
    void notify_all() {
        notices++;
        notifier = this_thread();
        noticed = tumit1_now();
        notified.notify_all();
    }

private:
    void own(enum monitors_entry entry) {
        owner = this_thread();
        depth = 1;
        monitors_entered(id, entry, turn, last, released);
        counts.states += 2;
        counts.releases += turn > 0 && last != this_thread();
        turn++;
    }

    void disown() {
        last = this_thread();
        released = tumit1_now();
        depth = 0;
        owner = 0;
    }

    static std::atomic<uint16_t> next;
    const uint16_t id;
    std::mutex lock;
    std::condition_variable notified;
    std::atomic<uint64_t> owner{0}; // 0: nobody, or who is just about to say so
    // All members below belong to the owner.
    unsigned depth = 0;
    uint64_t turn = 0, last = 0, notices = 0, notifier = 0;
    tumit1_date released, noticed; // never before the first record
};

// A block or method that is synchronised on an object.
class Synchronized {
public:
    explicit Synchronized(Monitor &object) : monitor(object) { monitor.enter(); }
    ~Synchronized() { monitor.exit(); }
    Synchronized(const Synchronized &) = delete;
    Synchronized &operator=(const Synchronized &) = delete;

private:
    Monitor &monitor;
};

#endif
