import { createClient, unwrap } from '@workspace-backend/client';
import { SignIn, type SignInState } from '@workspace-backend/client/sign-in';

const CLIENT = 'notes-web';
const KEY = 'notes-web account';

/** The user of this device. */
export interface Account {
  user: string;
  workspace: string;
  name: string;
}

/** The address of this page, to which sign-in and sign-out return. */
export const page = new URL(location.pathname, location.origin).href;

const signIn = new SignIn({ url: location.origin, clientId: CLIENT, storage: localStorage });

export const client = createClient({ url: location.origin, token: signIn.token });

export const isSignedIn = (): Promise<boolean> => signIn.isSignedIn();
export const onSignInChange = (listener: (state: SignInState) => void): void =>
  void signIn.onChange(listener);

/** Leaves for the sign-in page. */
export async function startSignIn(): Promise<void> {
  location.assign(await signIn.start({ redirectUri: page }));
}

/** Completes a sign-in if the page was opened by its end. @throws Error with the reason if it failed */
export async function completeSignIn(): Promise<void> {
  const callback = location.href;
  const query = new URL(callback).searchParams;
  if (!query.has('code') && !query.has('error')) return;
  history.replaceState(null, '', page);
  await signIn.complete(callback);
  // Another user may have signed in.
  forgetAccount();
}

export function storedAccount(): Account | undefined {
  return (JSON.parse(localStorage.getItem(KEY) ?? 'null') as Account | null) ?? undefined;
}

/** The signed-in user: without a connection the one of the last sign-in. */
export async function readAccount(): Promise<Account> {
  const stored = storedAccount();
  if (stored) return stored;
  const [{ profile }, { tenant }] = await Promise.all([
    client.GET('/settings/profile').then(unwrap),
    client.GET('/tenant').then(unwrap),
  ]);
  const account = { user: profile.id, workspace: tenant.id, name: profile.display_name };
  localStorage.setItem(KEY, JSON.stringify(account));
  return account;
}

/** Removes the stored account. A page that is signed out and still has one has lost its session, and keeps the notes of the device. */
export const forgetAccount = (): void => localStorage.removeItem(KEY);

/** Ends the sign-in here, and then the session of the browser at the service. */
export async function signOut(): Promise<void> {
  try {
    await signIn.signOut();
    location.assign(await signIn.endSessionUrl(page));
  } catch {
    // Without a connection: the tokens of this device are removed nevertheless.
    location.assign(page);
  }
}
