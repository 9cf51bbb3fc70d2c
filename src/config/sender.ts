/** An address, or `Name <address>`. */
export const SENDER =
  /^(?:[^<>"\r\n]{1,100} <[^\s<>@]{1,64}@[^\s<>@]{1,253}>|[^\s<>@]{1,64}@[^\s<>@]{1,253})$/;

/** @param sender a text that {@link SENDER} matches */
export function parseSender(sender: string): { name: string; address: string } {
  const [, name = 'Workspace', address = sender] = /^(.+) <(.+)>$/.exec(sender) ?? [];
  return { name, address };
}
