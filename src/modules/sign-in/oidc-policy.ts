import { interactionPolicy, type KoaContextWithOIDC } from 'oidc-provider';

const { Check, base } = interactionPolicy;

/**
 * When the provider has to show a page: the library's own reasons, and when this browser's sign-in, or one that was opened
 * from it, has been ended from elsewhere: who takes a session away from a stolen browser does not want it to open another.
 * @param alive whether a grant may still get tokens
 */
export function signInPolicy(alive: (grantId: string, accountId: string) => Promise<boolean>) {
  const policy = base();
  policy.get('login')?.checks.add(
    new Check('session_ended', 'the sign-in has been ended', async ({ oidc }) => {
      const { session, account, result } = oidc;
      if (session?.accountId === undefined) return false;
      if (account === undefined) return true;
      const ended = await endedGrants(session, alive);
      if (ended.length === 0) return false;
      if (result?.login === undefined) return true;
      // Signed in anew: what had ended is of no importance any more.
      session.authorizations = Object.fromEntries(
        Object.entries(session.authorizations ?? {}).filter(([clientId]) => !ended.includes(clientId)),
      );
      return false;
    }),
  );
  return policy;
}

/** The clients whose grants, opened from this browser, have been ended. */
async function endedGrants(
  { accountId, authorizations = {} }: NonNullable<KoaContextWithOIDC['oidc']['session']>,
  alive: (grantId: string, accountId: string) => Promise<boolean>,
): Promise<string[]> {
  const grants = Object.entries(authorizations).filter(([, { grantId }]) => grantId !== undefined);
  const states = await Promise.all(grants.map(([, { grantId }]) => alive(grantId!, accountId!)));
  return grants.filter((_, n) => !states[n]).map(([clientId]) => clientId);
}
