// Long work of native code hears Ctrl-C, and says what it is about.
#include <pybind11/stl.h>

#include <chrono>
#include <optional>
#include <utility>

#include "base/budget.h"
#include "base/interrupt.h"
#include "base/long_work.h"
#include "python/bindings.h"
#include "python/convert.h"

namespace py = pybind11;

namespace whocall::python {
namespace {

using Clock = std::chrono::steady_clock;

struct Teller {
  py::object tell = py::none();
  Clock::duration interval{};
  Clock::time_point next = Clock::time_point::max();  // when somebody will have waited long enough
};

// Python's objects must not outlive Python: it is never destroyed.
Teller& teller() {
  static auto* const kTeller = new Teller;
  return *kTeller;
}

Clock::duration seconds(double count) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(count));
}

void tell_of_long_work(py::object tell, double patience, double interval) {
  Teller& known = teller();
  known.interval = seconds(interval);
  known.next = tell.is_none() ? Clock::time_point::max() : Clock::now() + seconds(patience);
  known.tell = std::move(tell);
}

void tell_when_due() {
  Teller& known = teller();
  if (known.next == Clock::time_point::max() || Clock::now() < known.next) {
    return;
  }
  if (const std::optional<LongWork::State> state = LongWork::innermost()) {
    known.next = Clock::now() + known.interval;
    const py::object tell = known.tell;  // it may name another
    tell(text(state->what), state->share);
  }
}

// Only a thread that Python knows can run what Python does on Ctrl-C.
void check() {
  if (PyGILState_Check() == 0) {
    return;
  }
  if (PyErr_CheckSignals() != 0) {
    throw py::error_already_set();
  }
  tell_when_due();
}

}  // namespace

void bind_long_work(py::module_& module) {
  set_interrupt_check(&check);
  module.def("tell_of_long_work", &tell_of_long_work, py::arg("tell"), py::arg("patience") = 1.0,
             py::arg("interval") = 0.1);
  module.def("take_exhausted_budgets", [] { return text_list(take_exhausted_budgets()); });
}

}  // namespace whocall::python
