// What a scene holds.
#include "shapes.h"

double Square::area() const { return side_ * side_; }
int Square::corners() const { return 4; }

double Polygon::area() const {
  double sum = 0;
  for (size_t i = 0; i + 1 < points_.size(); i++) sum += points_[i] * points_[i + 1];
  return sum / 2;
}

int Polygon::corners() const { return static_cast<int>(points_.size()); }
double Polygon::at(size_t index) const { return points_.at(index); }

void fill(Scene &scene, unsigned seed) {
  for (unsigned i = 0; i < 3 + seed % 4; i++) {
    scene.shapes.push_back(std::make_unique<Square>(1.0 + i));
    scene.shapes.push_back(std::make_unique<Polygon>(static_cast<int>(i) + 3));
  }
}

Shape *shape_at(Scene &scene, size_t index) {
  return index < scene.shapes.size() ? scene.shapes[index].get() : nullptr;
}

#if VERSION > 1
double total_area(const Scene &scene) {
  double total = 0;
  for (const auto &shape : scene.shapes) total += shape->area();
  return total;
}
#endif
