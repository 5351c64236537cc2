/** Names of joints where there is little room. */

const BREAK = /[_\-./: ]/;
const WORD = /\p{L}/u;

/** What tells names apart: beginnings and ends that all of them share are left out, whole words at a time; `panda_joint1` … `panda_joint7` are joint1 … joint7. */
export function briefly(names: readonly string[]): string[] {
  if (names.length < 2) return [...names];
  const begun = names.map((name) => name.slice(shared(names)));
  const turned = begun.map(reversed);
  return turned.map((name) => reversed(name.slice(shared(turned))));
}

const reversed = (name: string): string => [...name].reverse().join("");

/** How many letters at the beginning of all names can go: up to the last break after which a word is left of every name. */
function shared(names: readonly string[]): number {
  const [first] = names;
  let most = 0;
  while (most < first.length && names.every((name) => name[most] === first[most])) most++;
  while (most > 0 && !(BREAK.test(first[most - 1]) && names.every((name) => WORD.test(name.slice(most))))) most--;
  return most;
}
