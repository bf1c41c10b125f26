/** Short texts with a skewed word distribution, deterministic by seed. */
export function randomText(seed: number): (words: number) => string {
  let state = seed >>> 0;
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const word = () => `w${Math.floor(400 ** random()) - 1}`;
  return (words) => Array.from({ length: 1 + Math.floor(random() * words) }, word).join(" ");
}
