#include "library.h"

int main() {
  const library::Circle circle;
  const library::Square square;
  library::draw_all({&circle, &square});
}
