// A box of 4 x 2 x 1 with a channel below its upper face that is meshed twice as finely, the way
// the junctions of a semiconductor are: for gmsh -3 -setnumber h SIZE.
SetFactory("Built-in");
DefineConstant[ h = 1.5 ];  // size of elements far from the channel

Point(1) = {0, 0, 0, h};
Point(2) = {4, 0, 0, h};
Point(3) = {4, 2, 0, h};
Point(4) = {0, 2, 0, h};
Line(1) = {1, 2};
Line(2) = {2, 3};
Line(3) = {3, 4};
Line(4) = {4, 1};
Curve Loop(1) = {1, 2, 3, 4};
Plane Surface(1) = {1};
Extrude {0, 0, 1} { Surface{1}; }
Physical Volume("device") = {1};

Field[1] = Box;
Field[1].VIn = h / 2;
Field[1].VOut = h;
Field[1].XMin = 1.2;
Field[1].XMax = 2.8;
Field[1].YMin = 0;
Field[1].YMax = 2;
Field[1].ZMin = 0.7;
Field[1].ZMax = 1;
Field[1].Thickness = 0.4;
Background Field = 1;
Mesh.CharacteristicLengthExtendFromBoundary = 0;
