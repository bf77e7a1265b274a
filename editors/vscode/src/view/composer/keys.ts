/** Whether a key belongs to an input method that composes: then it is neither sent nor a command. */
export function isComposing(event: KeyboardEvent): boolean {
  // 229: the key that ends a composition in browsers that have told of its end before.
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- there is no other sign of it
  return event.isComposing || event.keyCode === 229;
}
