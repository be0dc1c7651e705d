#pragma once

#include <vector>

namespace library {

struct Shape {
  virtual ~Shape() = default;
  virtual void draw(int times) const = 0;
};
struct Circle : Shape {
  void draw(int times) const override;
};
struct Square : Shape {
  void draw(int times) const override;
};

void draw_all(const std::vector<const Shape*>& shapes);

}  // namespace library
