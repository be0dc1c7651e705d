// What Rust's standard library lets threads wait for: told as tests/waits/locks.c does. None of its
// locks keeps an owner.
use std::sync::{Arc, Barrier, Condvar, Mutex, RwLock};
use std::thread;
use std::time::Duration;

extern "C" {
    fn gettid() -> i32;
    fn abort() -> !;
    fn prctl(option: i32, value: u64) -> i32;
}

fn begin(name: &str, kind: &str) {
    eprintln!("thread {} {}\nwait {} {} 0 -", name, unsafe { gettid() }, name, kind);
}

fn asleep() -> usize {
    let state = |path: std::path::PathBuf| {
        let text = std::fs::read_to_string(path.join("stat")).unwrap_or_default();
        let end = text.rfind(')').unwrap_or(0);
        text.get(end + 2..end + 3).unwrap_or("").to_string()
    };
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    tasks.filter(|each| state(each.as_ref().unwrap().path()) == "S").count()
}

fn main() {
    unsafe { prctl(1, 9) };
    let first = Arc::new(Mutex::new(1));
    let second = Arc::new(Mutex::new(2));
    let barrier = Arc::new(Barrier::new(2));
    for (name, own, other) in [("a", &first, &second), ("b", &second, &first)] {
        let (own, other, barrier) = (own.clone(), other.clone(), barrier.clone());
        thread::spawn(move || {
            let held = own.lock().unwrap();
            barrier.wait();
            begin(name, "mutex");
            println!("{}", *held + *other.lock().unwrap());
        });
    }
    let written = Arc::new(RwLock::new(3));
    let ready = Arc::new(Barrier::new(2));
    let (lock, go) = (written.clone(), ready.clone());
    thread::spawn(move || {
        let held = lock.write().unwrap();
        begin("c", "signal");
        go.wait();
        loop {
            thread::park();
            println!("{}", *held);
        }
    });
    ready.wait();
    thread::spawn(move || {
        begin("d", "rwlock");
        println!("{}", *written.read().unwrap());
    });
    thread::spawn(|| {
        let pair = (Mutex::new(false), Condvar::new());
        begin("e", "condition");
        let _held = pair.1.wait_while(pair.0.lock().unwrap(), |done| !*done).unwrap();
    });
    let mut quiet = 0;
    while quiet < 10 {
        quiet = if asleep() >= 5 { quiet + 1 } else { 0 };
        thread::sleep(Duration::from_millis(10));
    }
    eprintln!("done");
    if std::env::var("WHOCALL_CORE").is_ok() {
        unsafe { abort() };
    }
    loop {
        thread::park();
    }
}
