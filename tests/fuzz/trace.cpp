// Hostile files of call traces: opening one throws Error or gives a trace that can be told to the
// end.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "base/error.h"
#include "tracing/profile.h"
#include "tracing/trace.h"
#include "tracing/trace_json.h"
#include "tracing/trace_source.h"
#include "tracing/trace_text.h"

namespace {

using namespace whocall;

class Input final : public TraceBytes {
 public:
  Input(const std::uint8_t* data, std::size_t size) : bytes_(data, data + size) {}
  std::size_t read(std::uint64_t place, std::span<std::byte> out) const override {
    if (place >= bytes_.size()) {
      return 0;
    }
    const std::size_t size = std::min<std::uint64_t>(out.size(), bytes_.size() - place);
    std::memcpy(out.data(), bytes_.data() + place, size);
    return size;
  }

 private:
  std::vector<std::uint8_t> bytes_;
};

template <typename Writer>
void write_all(Writer&& writer) {
  for (std::size_t size = 1; size != 0;) {
    size = writer.next().size();
  }
}

void tell(const Trace& trace, const CallChoice& choice) {
  std::vector<std::size_t> threads(trace.threads().size());
  for (std::size_t at = 0; at < threads.size(); ++at) {
    threads[at] = at;
  }
  const TraceNames names;
  const TracePaint paint;
  write_all(TraceText(trace, threads, choice, names, paint));
  write_all(TraceJson(trace, threads, choice, names));
  const Profile profile(trace, threads, choice);
  write_all(FoldedStacks(profile, names.functions));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const Trace trace(read_trace(std::make_shared<Input>(data, size), size, "input"));
    CallChoice choice;
    tell(trace, choice);
    if (!trace.functions().empty()) {
      choice.roots = {trace.functions().front()};
      choice.most_depth = 2;
      tell(trace, choice);
    }
  } catch (const Error&) {
    return 0;
  }
  return 0;
}
