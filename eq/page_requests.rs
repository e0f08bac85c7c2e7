// SPDX-License-Identifier: GPL-2.0

//! Requests for pages that firmware makes by events, and the thread that serves them.

use crate::{
    cmd::pages::{
        Function,
        Pages, //
    },
    kernel_ext::{
        kthread::{
            Body,
            StopToken, //
        },
        signal::Signal, //
    },
    prm::{
        eq::{
            Eqe,
            PageRequest, //
        },
        pages::MAX_ENTRIES, //
    },
};
use kernel::{
    new_spinlock,
    prelude::*,
    sync::{
        atomic::{
            Atomic,
            Relaxed, //
        },
        Arc,
        SpinLock, //
    },
    time::Delta, //
};

use super::Subscriber;

/// Requests that can wait; firmware has few functions, and one request for each at a time.
const WAITING: usize = 64;

/// Most pages that are asked back after one event, as in mlx5_core.
const MAX_RETURN: u32 = 50_000;

/// The only bit of the signal: there is a request.
const WORK: u32 = 1;

/// Time that the thread sleeps if there is nothing to do; the signal ends it.
const IDLE: Delta = Delta::from_secs(3600);

#[derive(Clone, Copy)]
struct Request {
    function: Function,
    /// Pages wanted; negative: offered back.
    pages: i32,
    /// The function is gone, and all its pages are free.
    release_all: bool,
}

/// Requests that have come and were not served yet.
#[pin_data]
pub(super) struct Requests {
    #[pin]
    waiting: SpinLock<KVec<Request>>,
    lost: Atomic<u64>,
    #[pin]
    signal: Signal,
}

impl Requests {
    pub(super) fn new() -> impl PinInit<Self, Error> {
        try_pin_init!(Self {
            waiting <- new_spinlock!(KVec::with_capacity(WAITING, GFP_KERNEL)?),
            lost: Atomic::new(0),
            signal <- Signal::new(),
        })
    }

    fn take(&self) -> Option<Request> {
        self.waiting.lock().remove(0).ok()
    }
}

impl Subscriber for Requests {
    fn event(&self, eqe: &Eqe) {
        let request: PageRequest = eqe.data();
        let request = Request {
            function: Function {
                embedded_cpu: request.ec_function(),
                id: request.function_id(),
            },
            pages: request.pages(),
            release_all: request.release_all(),
        };

        // Does not allocate: the room was made at the start.
        if self.waiting.lock().push_within_capacity(request).is_err() {
            self.lost.fetch_add(1, Relaxed);
        }
        self.signal.raise(WORK);
    }
}

/// The body of the thread that serves requests.
pub(super) struct Worker<'bound> {
    requests: Arc<Requests>,
    pages: Arc<Pages<'bound>>,
}

impl<'bound> Worker<'bound> {
    pub(super) fn new(requests: Arc<Requests>, pages: Arc<Pages<'bound>>) -> Self {
        Self { requests, pages }
    }

    fn serve(&self, request: &Request, stop: &StopToken<'_>) -> Result {
        if request.release_all {
            self.pages.release_all(request.function)?;
            return Ok(());
        }
        if let Ok(wanted) = u32::try_from(request.pages) {
            return self.pages.give(request.function, wanted);
        }

        let mut left = usize::try_from(request.pages.unsigned_abs().min(MAX_RETURN)).unwrap_or(0);
        while left > 0 && !stop.should_stop() {
            let taken = self.pages.take(request.function, left.min(MAX_ENTRIES))?;
            if taken == 0 {
                break;
            }
            left = left.saturating_sub(taken);
        }
        Ok(())
    }
}

impl Body for Worker<'_> {
    fn signal(&self) -> &Signal {
        &self.requests.signal
    }

    fn run(&self, stop: &StopToken<'_>) {
        while !stop.should_stop() {
            self.requests.signal.wait_timeout(IDLE);

            let lost = self.requests.lost.xchg(0, Relaxed);
            if lost > 0 {
                self.pages.report_lost_requests(lost);
            }
            while let Some(request) = self.requests.take() {
                if stop.should_stop() {
                    return;
                }
                // What failed, and for which function, is in the log already.
                let _ = self.serve(&request, stop);
            }
        }
    }
}
