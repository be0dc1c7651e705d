#include "process/input/packed_crash.h"

#include "base/error.h"
#include "base/long_work.h"
#include "packing/packing.h"
#include "packing/sparse_file.h"
#include "packing/unpacked_source.h"
#include "process/input/apport_report.h"
#include "process/input/input_kind.h"

namespace whocall {

PackedCrash::PackedCrash(int file, std::string name) : file_(file, std::move(name)) {
  const LongWork work("Unpacking", file_.name());
  ByteSource* source = &file_;
  for (unsigned depth = 0; depth < kMostNested; ++depth) {
    inside_ = &look_into(*source);
    kind_ = input_kind(inside_->head());
    if (const auto packing = packing_of(inside_->head())) {
      layers_.push_back(std::make_unique<UnpackedSource>(*packing, *inside_));
    } else if (kind_ == kReportKind) {
      auto report = std::make_unique<ApportReport>(*inside_, file_.name());
      fields_ = report->fields();
      layers_.push_back(std::move(report));
    } else if (kind_ == kCoreKind || kind_ == kMinidumpKind || kind_ == kMicrodumpKind) {
      return;
    } else if (depth == 0 && inside_->head().empty()) {
      throw Error(file_.name(), "is empty", "Copy it anew");
    } else {
      throw Error(
          file_.name(),
          std::string("holds no core: what is in it is ").append(described_input(inside_->head())),
          "Name a core, a minidump or a crash report");
    }
    source = layers_.back().get();
  }
  throw Error(file_.name(), "is packed more than " + std::to_string(kMostNested) + " times",
              "Unpack it by hand first");
}

HeadedSource& PackedCrash::look_into(ByteSource& source) {
  auto headed = std::make_unique<HeadedSource>(source, kInputHead);
  const std::string why = headed->damage();
  if (headed->head().size() < kInputHead && !why.empty()) {
    throw Error(file_.name(), "cannot be unpacked: " + why, "Copy it anew, or unpack it by hand");
  }
  HeadedSource& made = *headed;
  layers_.push_back(std::move(headed));
  return made;
}

std::uint64_t PackedCrash::write(const WritePlace& place) {
  LongWork work("Unpacking", file_.name());
  return write_sparse(*inside_, place, file_.name(),
                      [&] { work.reached(file_.done(), file_.total()); });
}

}  // namespace whocall
