#include "arch/x86/start_features.h"

namespace whocall::x86 {

StartFeatures features_at_start_64(ByteView code, std::uint64_t at) {
  return features_at_start(code, at, Dialect::x86_64);
}
StartFeatures features_at_start_x32(ByteView code, std::uint64_t at) {
  return features_at_start(code, at, Dialect::x32);
}
StartFeatures features_at_start_32(ByteView code, std::uint64_t at) {
  return features_at_start(code, at, Dialect::i386);
}

}  // namespace whocall::x86
