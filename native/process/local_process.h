// Which process of this machine an image shows, where it lives.
#pragma once

#include <cstdint>

#include "process/process_image.h"

namespace whocall {

// Kept with an image by whoever opens a process that lives here: /proc/PID is its own.
struct LocalProcess {
  std::int64_t pid = 0;  // 0: it is a core, or lives elsewhere
};

inline std::int64_t local_pid(const ProcessImage& image) {
  return image.attachments().get<LocalProcess>([] { return LocalProcess{}; }).pid;
}

}  // namespace whocall
