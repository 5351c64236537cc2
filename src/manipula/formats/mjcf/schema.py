"""Which elements and attributes MJCF has, as MuJoCo 4.0 knows them; everything else in a file is a mistake.

A row is an element, how often it may stand there, and its attributes: ``?`` at most once, ``*`` any number, ``!`` the root, ``R`` also
inside itself. ``a|b`` are elements with equal rows, ``+`` continues a row, ``@word`` stands for a group of attributes, ``=word`` for
what ``<default>`` may set of that element. A test holds the table against ``mujoco.mj_printSchema``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from manipula.errors import unknown_name
from manipula.formats.mjcf.keywords import check_keywords
from manipula.formats.xml.reader import Element

VERSION = "4.0"
_GROUPS: Mapping[str, str] = {
    "@turn": "axisangle euler quat xyaxes zaxis",
    "@solve": "solimp solref",
    "@limit": "actuatorfrclimited actuatorfrcrange armature damping frictionloss limited margin range solimpfriction solimplimit "
    "solreffriction solreflimit springyield stiffness",
    "@contact": "conaffinity condim contype friction gap margin priority solimp solmix solref",
    "@ctrl": "ctrlrange delay group interp nsample user",
    "@force": "forcelimited forcerange",
    "@gear": "armature cranklength ctrllimited damping gear",
    "@drives": "class cranksite joint jointinparent lengthrange name refsite site slidersite tendon",
    "@record": "cutoff delay interp interval name nsample user",
    "@object": "objname objtype",
    "@reference": "refname reftype",
    "@pair": "body1 body2 geom1 geom2",
}
_TABLE = """
mujoco! model
  compiler* alignfree angle assetdir autolimits balanceinertia boundinertia boundmass conflict coordinate
      + discardvisual eulerseq fitaabb fusestatic inertiafromgeom inertiagrouprange meshdir passthrough savecanonical
      + savecompiled saveinertial settotalmass strippath texturedir usethread
    lengthrange? accel interval inttotal maxforce mode timeconst timestep tolrange useexisting uselimit
  option* actuatorgroupdisable ccd_iterations ccd_tolerance cone density gravity impratio integrator iterations
      + jacobian ls_iterations ls_tolerance magnetic noslip_iterations noslip_tolerance o_friction o_margin o_solimp
      + o_solref sdf_initpoints sdf_iterations sleep_tolerance solver timestep tolerance viscosity wind
    flag? actuation autoreset clampctrl constraint contact damper diagexact energy equality eulerdamp filterparent
        + frictionloss fwdinv gravity invdiscrete ipc island limit midphase multiccd nativeccd override refsafe sensor sleep
        + speculative spring warmstart
  size* memory nconmax njmax nkey nstack nuser_actuator nuser_body nuser_cam nuser_geom nuser_jnt nuser_sensor
      + nuser_site nuser_tendon nuserdata
  statistic* center extent meaninertia meanmass meansize
  visual*
    global? azimuth bvactive cameraid elevation ellipsoidinertia fovy glow ipd linewidth offheight offwidth
        + orthographic realtime
    quality? numquads numslices numstacks offsamples shadowsize
    headlight? active ambient diffuse specular
    map? actuatortendon alpha fogend fogstart force haze shadowclip shadowscale stiffness stiffnessrot torque zfar
        + znear
    scale? actuatorlength actuatorwidth camera com connect constraint contactheight contactwidth forcewidth
        + framelength framewidth frustum jointlength jointwidth light selectpoint slidercrank
    rgba? actuator actuatornegative actuatorpositive bv bvactive camera com connect constraint contactforce
        + contactfriction contactgap contactpoint contacttorque crankbroken fog force frustum haze inertia joint light
        + rangefinder selectpoint slidercrank
  defaultR class
    mesh? inertia maxhullvert scale
    texture? builtin colorspace embed gridlayout gridsize height hflip mark markrgb nchannel random rgb1 rgb2 type
        + vflip width
    material? emission metallic reflectance rgba roughness shininess specular texrepeat texture texuniform
      layer* role texture
    joint? @limit pos actuatorgravcomp axis group ref springdamper springref type user
    geom? @turn @contact pos adhesion castshadow density fitscale fluidcoef fluidshape fromto group hfield mass
        + material mesh rgba shellinertia size surfacevel type user
    site? @turn pos fromto group material mesh rgba size type user
    camera? @turn pos focal focalpixel fovy ipd mode output principal principalpixel projection resolution sensorsize
        + user
    light? pos active ambient attenuation bulbradius castshadow cutoff diffuse dir directional exponent intensity mode
        + range softness specular type
    pair? @solve adhesion condim friction gap margin solreffriction
    equality? @solve active
    tendon? @limit group material rgba springlength user width
    general? @ctrl @force @gear actdim actearly actlimited actrange biasprm biastype dynprm dyntype ffrange gainprm
        + gaintype inheritrange input velrange
    motor? @ctrl @force @gear
    position? @ctrl @force @gear dampratio inheritrange kp kv timeconst
    velocity? @ctrl @force @gear kv
    intvelocity? @ctrl @force @gear actlimited actrange dampratio inheritrange kp kv
    orientation? @ctrl @force dampratio input kp kv
    pid? @ctrl @force @gear dampratio ffrange imax inheritrange input ki kp kv posrange slewmax velrange
    damper? @ctrl @force armature cranklength damping gear kv
    cylinder? @ctrl @force @gear area bias diameter timeconst
    muscle? @ctrl @force @gear force fpmax fvmax lmax lmin range scale timeconst vmax
    adhesion? @ctrl @force gain
    dcmotor? @ctrl @gear cogging controller inductance input lugre motorconst nominal resistance saturation thermal
  extension*
    plugin* plugin
      instance* name
        config* key value
  asset*
    mesh* =mesh class name builtin content_type face file material normal params refpos refquat smoothnormal texcoord
        + vertex
      plugin* instance plugin
        config* key value
    hfield* name content_type elevation file ncol nrow size
    skin* name face file group inflate material rgba texcoord vertex
      bone* bindpos bindquat body vertid vertweight
    texture* =texture class name content_type file fileback filedown filefront fileleft fileright fileup
    material* =material class name
      layer* role texture
    model* name content_type file
  bodyR @turn name pos childclass fuse gravcomp mocap simple sleep user
    inertial? @turn pos diaginertia fullinertia mass
    joint* =joint class name
    freejoint* name align group
    geom* =geom class name
      plugin* instance plugin
        config* key value
    attach* body frame model prefix
    site* =site class name
    camera* =camera class name target
    light* =light class name target texture
    plugin* instance plugin
      config* key value
    flexcomp* @turn name pos cellcount count dim dof element file flatskin group inertiabox mass material mesh origin
        + point radius rgba rigid scale spacing texcoord type
      edge? @solve damping equality stiffness
      elasticity? damping elastic2d poisson section sectionsize shear thickness yield young
      contact? @contact activelayers passive selfcollide
      pin* grid gridrange id range
      plugin* instance plugin
        config* key value
  deformable*
    flex* name body cellcount dim dof element elemtexcoord flatskin group material node nodecoord radius rgba texcoord
        + vertex
      contact? @contact activelayers passive selfcollide
      edge? damping stiffness
      elasticity? damping elastic2d poisson section sectionsize shear thickness yield young
    skin* name face file group inflate material rgba texcoord vertex
      bone* bindpos bindquat body vertid vertweight
  contact*
    pair* =pair class name geom1 geom2
    exclude* name body1 body2
  tendon*
    spatial* =tendon class name
      site* site
      geom* geom sidesite
      pulley* divisor
    fixed* @limit class name group springlength user
      joint* coef joint
  equality*
    connect* =equality class name anchor body1 body2 site1 site2
    weld* =equality class name anchor body1 body2 relpose site1 site2 torquescale
    joint* =equality class name joint1 joint2 polycoef
    tendon* =equality class name polycoef tendon1 tendon2
    flex* =equality class name flex
    flexstrain* =equality class name cell flex
  actuator*
    general* =general @drives body
    motor* =motor @drives
    position* =position @drives
    velocity* =velocity @drives
    intvelocity* =intvelocity @drives
    orientation* =orientation class name joint refsite site
    pid* =pid @drives
    damper* =damper @drives
    cylinder* =cylinder @drives
    muscle* =muscle class name cranksite joint jointinparent lengthrange slidersite tausmooth tendon
    adhesion* =adhesion class name body
    dcmotor* =dcmotor @drives
    plugin* @ctrl @force @gear class name actdim actearly actlimited actrange cranksite dynprm dyntype instance joint
        + jointinparent lengthrange plugin site slidersite tendon
      config* key value
  sensor*
    touch|accelerometer|velocimeter|gyro|force|torque|magnetometer* @record noise site
    camprojection* @record camera noise site
    rangefinder* @record camera data noise site
    jointpos|jointvel* @record joint noise
    tendonpos|tendonvel* @record noise tendon
    actuatorpos|actuatorvel|actuatorfrc* @record actuator noise
    jointactuatorfrc* @record joint noise
    tendonactuatorfrc* @record noise tendon
    ballquat|ballangvel|jointlimitpos|jointlimitvel|jointlimitfrc* @record joint noise
    tendonlimitpos|tendonlimitvel|tendonlimitfrc* @record noise tendon
    framepos|framequat|framexaxis|frameyaxis|framezaxis|framelinvel|frameangvel* @record @object @reference noise
    framelinacc|frameangacc* @record @object noise
    subtreecom|subtreelinvel|subtreeangmom* @record body noise
    insidesite* @record @object enclosed noise site
    distance|normal|fromto* @record @pair noise
    contact* @record @pair data noise num reduce site subtree1 subtree2
    e_potential|e_kinetic|clock* @record noise
    tactile* @record geom mesh
    user* @object name cutoff datatype dim needstage noise user
    plugin* @object @reference name cutoff instance plugin user
      config* key value
  custom*
    numeric* name data size
    text* name data
    tuple* name
      element* @object prm
  keyframe*
    key* name act ctrl mpos mquat plastic qpos qvel time
"""
_OLDER: Mapping[str, str] = {  # words that MuJoCo dropped since 2.0 and that stand in many files
    "compiler": "convexhull exactmeshinertia",
    "option": "apirate collision mpr_iterations mpr_tolerance",
    "flag": "passive sensornoise",
    "global": "treedepth",
}
_FRAME = "axisangle childclass class euler name pos quat xyaxes zaxis"


@dataclass
class Row:
    """One element: how often it may stand in its parent, its attributes, its children."""

    often: str
    attributes: set[str]
    children: dict[str, Row] = field(default_factory=dict)


@cache
def schema() -> Row:
    """The table as a tree, from ``<mujoco>`` down."""
    above: list[Row] = []
    for indent, tags, often, words in re.findall(r"^( *)([\w|]+)([?*!R])(.*)$", re.sub(r"\n +\+", "", _TABLE), re.M):
        attributes: set[str] = set()
        for word in words.split():
            if word[0] == "=":
                attributes |= above[0].children["default"].children[word[1:]].attributes
            else:
                attributes.update(_GROUPS.get(word, word).split())
        depth = len(indent) // 2
        row = Row(often, attributes)
        for tag in tags.split("|"):
            if depth:
                above[depth - 1].children[tag] = row
            row.attributes |= set(_OLDER.get(tag, "").split())
        above[depth:] = [row]
    root = above[0]
    default, body = root.children["default"], root.children["body"]
    default.children["default"] = default
    root.children["worldbody"] = Row("*", set(), body.children)
    del root.children["body"]
    body.children |= {"body": body, "frame": Row("*", set(_FRAME.split()), body.children)}
    body.children["replicate"] = Row("*", {"count", "euler", "offset", "sep"}, body.children)
    body.children["composite"] = Row("unread", set())  # the reader of bodies refuses it with its reason
    return root


def check_schema(root: Element) -> None:
    """Refuse an element, attribute or keyword that MJCF does not have, and a second one of what may stand once."""
    todo = [(root, schema())]
    while todo:
        element, row = todo.pop()
        for attribute in element.attributes:
            if attribute not in row.attributes and attribute != "xmlns" and not (row.often == "!" and ":" in attribute):
                raise unknown_name(
                    f"attribute of <{element.tag}>", attribute, sorted(row.attributes), line=element.line,
                    field=f"{element.tag}.{attribute}")  # fmt: skip
        check_keywords(element)
        for child in element.children:
            if child.tag not in row.children:
                raise unknown_name(
                    f"element in <{element.tag}>", child.tag, sorted(row.children), line=child.line, field=child.tag
                )
            inner = row.children[child.tag]
            if inner.often == "?":
                element.one(child.tag)
            if inner.often != "unread":
                todo.append((child, inner))
