/** Where the application keeps the refresh token: `localStorage`, `sessionStorage`, a key chain, an encrypted file. */
export interface TokenStorage {
  /** @returns null or undefined for an unknown key */
  getItem(key: string): string | null | undefined | Promise<string | null | undefined>;
  /** Stores a value, before the returned promise resolves if there is one. */
  setItem(key: string, value: string): unknown;
  /** Removes a value; an unknown key is no error. */
  removeItem(key: string): unknown;
}

/** Keeps tokens until the page or the process ends. */
export class MemoryStorage implements TokenStorage {
  private readonly items = new Map<string, string>();

  getItem(key: string): string | undefined {
    return this.items.get(key);
  }

  setItem(key: string, value: string): void {
    this.items.set(key, value);
  }

  removeItem(key: string): void {
    this.items.delete(key);
  }
}
