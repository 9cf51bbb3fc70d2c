/** The path of the SCIM interface, below the prefix of the API. */
export const SCIM_PATH = 'scim/v2';
