#include "waits/waiting.h"

#include <algorithm>
#include <array>

namespace whocall {
namespace {

struct KindWord {
  WaitKind kind;
  std::string_view word;
};
constexpr std::array<KindWord, 24> kKindWords = {{
    {WaitKind::nothing, "nothing"},
    {WaitKind::mutex, "mutex"},
    {WaitKind::rwlock, "rwlock"},
    {WaitKind::condition, "condition"},
    {WaitKind::semaphore, "semaphore"},
    {WaitKind::join, "join"},
    {WaitKind::barrier, "barrier"},
    {WaitKind::once, "once"},
    {WaitKind::future, "future"},
    {WaitKind::lock, "lock"},
    {WaitKind::futex, "futex"},
    {WaitKind::pipe, "pipe"},
    {WaitKind::socket, "socket"},
    {WaitKind::terminal, "terminal"},
    {WaitKind::file, "file"},
    {WaitKind::event, "event"},
    {WaitKind::descriptor, "descriptor"},
    {WaitKind::poll, "poll"},
    {WaitKind::sleep, "sleep"},
    {WaitKind::child, "child"},
    {WaitKind::signal, "signal"},
    {WaitKind::message, "message"},
    {WaitKind::call, "call"},
    {WaitKind::unknown, "unknown"},
}};

}  // namespace

std::string_view to_string(WaitKind kind) {
  const auto* const found =
      std::ranges::find_if(kKindWords, [&](const KindWord& row) { return row.kind == kind; });
  return found == kKindWords.end() ? "unknown" : found->word;
}

}  // namespace whocall
