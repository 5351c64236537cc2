"""Files and robots: what may be opened, how each format is read, how it is written.

===================  ==================================================================================
``load``             ``load`` and ``save``: the format follows the suffix, a bare word is a name of the catalog
``catalog``          arms that come with the package
``robot_draft``      what a URDF, MJCF or SDF file says, before the robot is built
``appearance``       shapes that a description shows, and where their mesh files lie
``packages``         where packages of ROS lie, and files in them
``xacro_files``      xacro → URDF text, when the caller trusts the file
``descriptions``     names of the package robot_descriptions
``guard``            what may be opened, and how much of it
``whole_file``       files that appear whole or not at all
``planar``           planar arms from lengths and masses
``table``            the 13-column text table
``table_extension``  what the 13 columns have no place for, in comments that are read back
``matlab_list``      lists in brackets, as such tables hold them
``meshes/``          triangles from STL, OBJ, MSH, DAE and glTF files
``dh/``              rows of Denavit–Hartenberg parameters, both conventions, in and out
``toml/``            our own format: fields with their lines, formulas, writers
``xml/``             what URDF, MJCF and SDF share: elements with lines and budgets, words for what they cannot say
``urdf/``            URDF, in and out
``mjcf/``            MJCF, in and out
``sdf/``             SDF, in
===================  ==================================================================================
"""
