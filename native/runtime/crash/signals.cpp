#include "runtime/crash/signals.h"

namespace whocall::runtime {
namespace {

struct Words {
  int signal;
  int code;
  const char* words;
};

// By the numbers of <bits/siginfo-consts.h>: some names are younger than C libraries in use.
constexpr Words kWords[] = {
    {SIGSEGV, 1, "address not mapped"},
    {SIGSEGV, 2, "no permission for the address"},
    {SIGSEGV, 3, "address bound check failed"},
    {SIGSEGV, 4, "protection key check failed"},
    {SIGSEGV, 8, "memory tag check failed"},
    {SIGSEGV, 9, "memory tag check failed"},
    {SIGSEGV, 0x80, "no address told: a general protection fault"},
    {SIGBUS, 1, "address not aligned"},
    {SIGBUS, 2, "no memory behind the address: is the file shorter than its mapping?"},
    {SIGBUS, 3, "hardware error"},
    {SIGBUS, 4, "memory error"},
    {SIGBUS, 5, "memory error"},
    {SIGILL, 1, "illegal opcode"},
    {SIGILL, 2, "illegal operand"},
    {SIGILL, 3, "illegal addressing mode"},
    {SIGILL, 4, "illegal trap"},
    {SIGILL, 5, "privileged opcode"},
    {SIGILL, 6, "privileged register"},
    {SIGFPE, 1, "integer division by zero"},
    {SIGFPE, 2, "integer overflow"},
    {SIGFPE, 3, "floating-point division by zero"},
    {SIGFPE, 4, "floating-point overflow"},
    {SIGFPE, 5, "floating-point underflow"},
    {SIGFPE, 6, "floating-point inexact result"},
    {SIGFPE, 7, "invalid floating-point operation"},
    {SIGTRAP, 1, "breakpoint"},
    {SIGTRAP, 2, "trace trap"},
    {SIGTRAP, 0x80, "breakpoint"},
};

}  // namespace

const char* signal_name(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "SIGSEGV";
    case SIGBUS:
      return "SIGBUS";
    case SIGILL:
      return "SIGILL";
    case SIGFPE:
      return "SIGFPE";
    case SIGABRT:
      return "SIGABRT";
    case SIGTRAP:
      return "SIGTRAP";
    case SIGUSR1:
      return "SIGUSR1";
    case SIGUSR2:
      return "SIGUSR2";
    case SIGALRM:
      return "SIGALRM";
    case SIGQUIT:
      return "SIGQUIT";
    case SIGHUP:
      return "SIGHUP";
    default:
      return "a signal";
  }
}

const char* code_words(int signal, int code) {
  if (code == SI_TKILL) {
    return "raised by the program itself";
  }
  if (code == SI_TIMER) {
    return "a timer has run out";
  }
  if (was_sent(code)) {
    return "sent by a process";
  }
  for (const Words& each : kWords) {
    if (each.signal == signal && each.code == code) {
      return each.words;
    }
  }
  return nullptr;
}

bool was_sent(int code) { return code <= 0; }

bool tells_sender(int code) { return was_sent(code) && code != SI_TIMER && code != SI_ASYNCIO; }

}  // namespace whocall::runtime
