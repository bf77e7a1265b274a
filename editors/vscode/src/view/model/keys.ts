/** Names for rows that stay the same over a reload: made of what is in the messages, not of when the view saw them. */
export class Keys {
  private readonly taken = new Set<string>();

  /** `wanted`, or the first free variant of it. */
  take(wanted: string): string {
    let key = wanted;
    for (let number = 2; this.taken.has(key); number++) key = `${wanted}~${number}`;
    this.taken.add(key);
    return key;
  }
}
