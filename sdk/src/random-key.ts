/** @returns 32 random hexadecimal digits. `crypto.randomUUID` exists in secure contexts only. @throws Error without `crypto.getRandomValues` */
export function randomKey(): string {
  if (typeof globalThis.crypto?.getRandomValues !== 'function')
    throw new Error(
      'This platform has no crypto.getRandomValues. Import a polyfill first, such as react-native-get-random-values.',
    );
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
