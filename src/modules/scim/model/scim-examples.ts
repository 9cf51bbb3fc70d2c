import { CORE, ENTERPRISE_USER, MESSAGES } from '../../../lib/scim/index.js';

const search = (filter: string) => ({
  schemas: [`${MESSAGES}:SearchRequest`],
  filter,
  startIndex: 1,
  count: 10,
});
const patch = (operations: object[]) => ({ schemas: [`${MESSAGES}:PatchOp`], Operations: operations });

export const USER_EXAMPLES = {
  create: {
    schemas: [`${CORE}:User`, ENTERPRISE_USER],
    externalId: '7f3c',
    userName: 'ann@acme.example',
    name: { givenName: 'Ann', familyName: 'Example' },
    emails: [{ value: 'ann@acme.example', type: 'work', primary: true }],
    active: true,
    [ENTERPRISE_USER]: { department: 'Research' },
  },
  search: search('userName eq "ann@acme.example"'),
  patch: patch([{ op: 'replace', path: 'active', value: false }]),
};

export const GROUP_EXAMPLES = {
  create: {
    schemas: [`${CORE}:Group`],
    displayName: 'Editors',
    members: [{ value: '01890a5d-ac96-774b-bcce-b302099a8057' }],
  },
  search: search('displayName eq "Editors"'),
  patch: patch([{ op: 'remove', path: 'members[value eq "01890a5d-ac96-774b-bcce-b302099a8057"]' }]),
};
