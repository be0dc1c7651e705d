// Asks who called it; with an argument it crashes, and the report says what release it was.
use std::os::raw::c_char;
use whocall_sys::*;

#[inline(never)]
fn asked() -> i32 {
    unsafe { who_call_me(std::ptr::null_mut()) }
}

#[inline(never)]
fn asks() -> i32 {
    let answer = asked();
    unsafe { std::ptr::read_volatile(&answer) + 1 } // not a tail call
}

fn main() {
    unsafe {
        whocall_install(&WHOCALL_CRASH_OPTIONS);
        whocall_annotate(b"release\0".as_ptr() as *const c_char, b"4.2\0".as_ptr() as *const c_char);
    }
    if asks() != 1 {
        std::process::exit(1);
    }
    if std::env::args().len() > 1 {
        std::process::abort();
    }
}
