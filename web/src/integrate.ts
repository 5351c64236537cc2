/** The integrators of the package as the page uses them; exported scenarios carry the same file. */
export { change, compute, observedRun } from "../../src/manipula/simulation/integrators/stepping.mjs";
export type { Changeable, Computed, Loop, Problem, Stepping, Tableau, Weights } from "../../src/manipula/simulation/integrators/stepping.mjs";
