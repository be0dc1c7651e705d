//! What `whocall.h` declares, as Rust has it. Everything is as unsafe as C is; `whocall.h` says what
//! may be called where, and who keeps which memory.

#![allow(non_camel_case_types)]

use std::os::raw::{c_char, c_int, c_uchar, c_void};

/// How a frame was found, the surest first.
pub const WHOCALL_CONTEXT: c_int = 0;
pub const WHOCALL_CFI: c_int = 1;
pub const WHOCALL_ANALYSIS: c_int = 2;
pub const WHOCALL_FRAME_POINTER: c_int = 3;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct whocall_frame {
    pub address: usize,
    pub offset: usize,
    pub module: *const c_char,
    pub build_id: *const c_uchar,
    pub build_id_size: usize,
    pub function: *const c_char,
    pub function_offset: usize,
    pub trust: c_int,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct whocall_crash_options {
    pub size: usize,
    pub text_fd: c_int,
    pub text_path: *const c_char,
    pub record_fd: c_int,
    pub record_path: *const c_char,
    pub memory: *mut c_void,
    pub ring_path: *const c_char,
    pub ring_size: usize,
    pub slot_size: usize,
    pub all_threads: c_int,
    pub before_handlers: c_int,
    pub question_signal: c_int,
    pub receiver: *const c_char,
}

/// `WHOCALL_CRASH_OPTIONS`: the text goes to standard error, and nothing else is written.
pub const WHOCALL_CRASH_OPTIONS: whocall_crash_options = whocall_crash_options {
    size: std::mem::size_of::<whocall_crash_options>(),
    text_fd: 2,
    text_path: std::ptr::null(),
    record_fd: -1,
    record_path: std::ptr::null(),
    memory: std::ptr::null_mut(),
    ring_path: std::ptr::null(),
    ring_size: 0,
    slot_size: 0,
    all_threads: 0,
    before_handlers: 0,
    question_signal: 0,
    receiver: std::ptr::null(),
};

#[link(name = "whocall")]
extern "C" {
    pub fn whocall_capture(addresses: *mut *mut c_void, count: usize) -> usize;
    pub fn whocall_backtrace(frames: *mut whocall_frame, count: usize) -> usize;
    pub fn whocall_backtrace_context(
        context: *const c_void,
        frames: *mut whocall_frame,
        count: usize,
    ) -> usize;
    pub fn who_am_i(frame: *mut whocall_frame) -> c_int;
    pub fn who_call_me(caller: *mut whocall_frame) -> c_int;
    pub fn find_function_by_addr(address: *const c_void, frame: *mut whocall_frame) -> c_int;
    pub fn whocall_print(fd: c_int, frames: *const whocall_frame, count: usize);
    pub fn whocall_prepare();
    pub fn whocall_install(options: *const whocall_crash_options) -> c_int;
    pub fn whocall_annotate(key: *const c_char, value: *const c_char) -> c_int;
    pub fn whocall_install_thread() -> c_int;
}
