#include "arch/zero_register.h"

namespace whocall {

using Kind = Effect::Kind;

void ZeroRegisterEffects::set(Register to, Register from, std::int64_t amount) {
  if (from == kZeroRegister) {
    constant(to, amount);
  } else {
    put({Kind::set, to, from, amount});
  }
}

void ZeroRegisterEffects::add(Register to, Register left, Register right) {
  if (left == kZeroRegister || right == kZeroRegister) {
    set(to, left == kZeroRegister ? right : left, 0);
  } else {
    put({Kind::add, to, left, 0, right, 1});
  }
}

void ZeroRegisterEffects::subtract(Register to, Register left, Register right) {
  if (right == kZeroRegister) {
    set(to, left, 0);
  } else if (left == kZeroRegister) {
    clobber(to);
  } else {
    put({Kind::subtract, to, left, 0, right, 1});
  }
}

void ZeroRegisterEffects::load(Register to, Register base, std::int64_t offset) {
  if (base == kZeroRegister) {
    clobber(to);
  } else {
    put({Kind::load, to, base, offset});
  }
}

void ZeroRegisterEffects::store(Register base, std::int64_t offset, Register what) {
  if (what == kZeroRegister) {
    store_other(base, offset);
  } else if (base != kZeroRegister) {
    out_.add({Kind::store, base, what, offset});
  }
}

void ZeroRegisterEffects::store_other(Register base, std::int64_t offset) {
  if (base != kZeroRegister) {
    out_.add({Kind::store_other, base, 0, offset});
  }
}

}  // namespace whocall
