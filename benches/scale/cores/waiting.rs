//! Cores that do not exist: work is waited for while a permit for a core is held.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// So many times as long as the work itself takes the simulation to wait for it. The system wakes a
/// thread some 60 us late, and a thread of 16 parses its part of a block in 2 ms.
pub const SLOWED: u32 = 8;

/// What a thread owes is waited for when it is so much. A thread has a core for about as long
/// before another one gets it; the scheduler of Linux gives it 3 ms if others wait.
const SLICE: Duration = Duration::from_millis(4);

/// Shorter work of one thread is added up, because no wait is so short.
const LEAST: Duration = Duration::from_micros(500);

thread_local! {
    /// The nanoseconds that this thread has worked and not waited for; below 0 if it waited too
    /// long.
    static OWED: Cell<i64> = const { Cell::new(0) };
}

/// So many cores, shared by all threads of a simulation.
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

    /// Works so long on a core.
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

/// Waits for something that needs no core, as a disk.
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
