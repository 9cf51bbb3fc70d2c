import { interactionPolicy, type KoaContextWithOIDC } from 'oidc-provider';

const { Check, base } = interactionPolicy;

/** States that require a new sign-in. */
export interface SignInStates {
  /** Whether a grant was ended. */
  isEnded(grantId: string, accountId: string): Promise<boolean>;
  /** Whether the issuer that signed in the browser may not sign in users any more. */
  isIssuerEnded(acr: string | undefined): Promise<boolean>;
}

/**
 * Decides when the provider shows a page: for the reasons of the library, and when the sign-in of this browser, or a grant
 * opened from it, was ended elsewhere. Such a browser must not open another session without a new sign-in.
 */
export function signInPolicy(states: SignInStates) {
  const policy = base();
  policy.get('login')?.checks.add(
    new Check('session_ended', 'the sign-in has ended', 'login_required', async ({ oidc }) => {
      const { session, account, result } = oidc;
      if (session?.accountId === undefined) return false;
      if (account === undefined) return true;
      if (result?.login === undefined && (await states.isIssuerEnded(session.acr))) return true;
      const ended = await endedGrants(session, (id, account) => states.isEnded(id, account));
      if (ended.length === 0) return false;
      if (result?.login === undefined) return true;
      // After a new sign-in, ended grants no longer matter.
      session.authorizations = Object.fromEntries(
        Object.entries(session.authorizations ?? {}).filter(([clientId]) => !ended.includes(clientId)),
      );
      return false;
    }),
  );
  return policy;
}

/** Clients whose grants, opened from this browser, have ended. */
async function endedGrants(
  { accountId, authorizations = {} }: NonNullable<KoaContextWithOIDC['oidc']['session']>,
  isEnded: (grantId: string, accountId: string) => Promise<boolean>,
): Promise<string[]> {
  const grants = Object.entries(authorizations).filter(([, { grantId }]) => grantId !== undefined);
  const states = await Promise.all(grants.map(([, { grantId }]) => isEnded(grantId!, accountId!)));
  return grants.filter((_, n) => states[n]).map(([clientId]) => clientId);
}
