//! Simulated cores: a thread waits instead of working, while it holds a permit for a core.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How many times slower the simulation runs than the work itself. The system wakes a thread some
/// 60 us late, and one of 16 threads parses its part of a block in 2 ms.
pub const SLOWED: u32 = 8;

/// The longest wait with one permit, after which another thread can get the core: half a
/// millisecond of simulated time. The scheduler of Linux gives a thread 3 ms if others wait.
const SLICE: Duration = Duration::from_millis(4);

/// Shorter work of a thread is added up until it reaches this, because no wait is that short.
const LEAST: Duration = Duration::from_micros(500);

thread_local! {
    /// The nanoseconds of work that this thread has not waited for yet; below 0 if it waited too
    /// long.
    static OWED: Cell<i64> = const { Cell::new(0) };
}

/// The cores of a simulation, which all its threads share.
pub struct Cores {
    free: Mutex<u32>,
    freed: Condvar,
}

/// The time that the threads of one role have worked.
#[derive(Default)]
pub struct Role(AtomicU64);

impl Cores {
    pub fn new(count: u32) -> Self {
        Self { free: Mutex::new(count), freed: Condvar::new() }
    }

    /// Simulates work of this length on a core.
    pub fn work(&self, role: &Role, time: Duration) {
        role.add(time);
        let owed = OWED.get() + (time * SLOWED).as_nanos() as i64;
        OWED.set(owed);
        if owed >= LEAST.as_nanos() as i64 {
            self.wait_for_owed();
        }
    }

    fn wait_for_owed(&self) {
        while OWED.get() > 0 {
            let slice = SLICE.min(Duration::from_nanos(OWED.get() as u64));
            self.take();
            let start = Instant::now();
            thread::sleep(slice);
            OWED.set(OWED.get() - start.elapsed().as_nanos() as i64);
            self.give_back();
        }
    }

    fn take(&self) {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        while *free == 0 {
            free = self.freed.wait(free).unwrap_or_else(PoisonError::into_inner);
        }
        *free -= 1;
    }

    fn give_back(&self) {
        *self.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.freed.notify_one();
    }
}

/// Waits for something that needs no core, such as a disk.
pub fn idle(role: &Role, time: Duration) {
    role.add(time);
    thread::sleep(time * SLOWED);
}

impl Role {
    fn add(&self, time: Duration) {
        self.0.fetch_add(time.as_nanos() as u64, Ordering::Relaxed);
    }

    /// The time worked so far, as it would be on real cores.
    pub fn worked(&self) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::Relaxed))
    }
}
