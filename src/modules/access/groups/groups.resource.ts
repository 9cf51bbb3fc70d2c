import { resource } from '../../../platform/resources/resource.js';
import { GroupResponse } from '../access.response.js';

export const GROUPS = resource({
  tag: 'access',
  name: 'group',
  path: 'rbac/groups',
  item: GroupResponse,
  notFound: 'The group does not exist.',
});
