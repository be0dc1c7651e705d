#version 3.7;
#include "functions.inc"
global_settings { assumed_gamma 1 max_trace_level 20 }
camera { location <0, 3, -8> look_at <0, 1, 0> }
light_source { <5, 9, -7> rgb 1 area_light <2, 0, 0>, <0, 0, 2>, 5, 5 adaptive 1 }
plane { y, 0 pigment { checker rgb 1, rgb 0.2 } finish { reflection 0.3 } }
#declare Tower = union { #for (i, 0, 30) sphere { <sin(i) * 3, i / 8, cos(i) * 3>, 0.6 } #end }
difference { object { Tower } box { <-1, -1, -1>, <1, 9, 1> } pigment { rgbf <0.9, 0.9, 1, 0.8> }
  finish { reflection 0.2 specular 0.6 } interior { ior 1.5 } }
isosurface { function { x * x + y * y + z * z - 1 + f_noise3d(x * 4, y * 4, z * 4) * 0.6 } max_gradient 8
  contained_by { sphere { 0, 1.5 } } translate y * 1.5 pigment { bozo } normal { bumps 0.4 } }
