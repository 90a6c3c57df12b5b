import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { keptInWords, rowsOf, waysOf } from '../../src/accounts/words';
import type { Account, SignInProvider } from '../../src/generated/protocol';

const account: Account = { provider: 'chatgpt', label: 'default', name: 'ada@example.com', server: 'https://a.example', kind: 'signIn', ended: false };
const chatgpt: SignInProvider = { provider: 'chatgpt', title: 'ChatGPT', ways: ['browser', 'paste', 'device'] };

describe('accounts', () => {
  it('are told with their state, and the keys with where they come from', () => {
    const rows = rowsOf({
      accounts: [account, { ...account, label: 'work', ended: true }, { ...account, provider: 'openai', label: 'default', kind: 'key' }],
      providers: [],
      keyProviders: [],
      keys: [
        { provider: 'chatgpt', source: 'the account `default`', label: 'default' },
        { provider: 'openai', source: 'the environment variable OPENAI_API_KEY', variable: 'OPENAI_API_KEY' },
        { provider: 'mistral', source: 'the configuration' },
      ],
    }, new Set(['OPENAI_API_KEY', 'GROQ_API_KEY']));
    assert.deepEqual(rows.map(({ label, description, detail, lacks }) => [label, description, detail, lacks]), [
      ['chatgpt', 'signed in as ada@example.com', 'In use, for https://a.example', false],
      ['chatgpt: work', 'signed in as ada@example.com', 'The vendor has ended this sign-in. Sign in again.', true],
      ['openai', 'key', 'Not in use: the environment variable OPENAI_API_KEY counts', false],
      ['openai', 'key', 'In use, from the secret storage of VS Code', false],
      ['mistral', 'key', 'In use, from the configuration', false],
      ['GROQ_API_KEY', 'key', 'In the secret storage of VS Code, and not in use', false],
    ]);
  });

  it('are told one by one if there are several, with the one that is in use and those that rest', () => {
    const key: Account = { provider: 'openai', label: 'work', server: 'https://o.example', kind: 'key', ended: false };
    const restsUntil = new Date('2020-01-02T03:04:05Z').getTime();
    const rows = rowsOf({
      accounts: [key],
      providers: [],
      keyProviders: [],
      keys: [{
        provider: 'openai', source: 'the list of keys in the configuration',
        members: [
          { name: 'FIRST_KEY', isAccount: false, inUse: false, restsUntil, reason: 'rate_limited' },
          { name: 'work', isAccount: true, inUse: true },
          { name: 'OLD_KEY', isAccount: false, inUse: false, restsUntil, reason: 'unauthorized' },
        ],
      }],
    }, new Set());
    assert.deepEqual(rows.map(({ label, lacks }) => [label, lacks]), [['openai: work', false], ['openai: FIRST_KEY', false], ['openai: OLD_KEY', true]]);
    assert.equal(rows[0]?.detail, 'In use, for https://o.example');
    assert.match(rows[1]?.detail ?? '', /^It has reached a limit, and rests until .*2020/);
    assert.match(rows[2]?.detail ?? '', /^Refused by the provider/);
  });

  it('say of a key that is kept what its vendor says, and that it is not used yet', () => {
    const key: Account = { provider: 'openai', label: 'work', server: 'https://o.example', kind: 'key', ended: false };
    const taken = { state: 'taken', words: 'OpenAI (o.example) takes the key.' } as const;
    assert.equal(keptInWords('openai', 'work', { account: key, check: taken }), 'the key for openai is kept as work. OpenAI (o.example) takes the key.');
    const unknown = { state: 'unknown', words: 'The key is not checked.' } as const;
    const noted = 'the key for openai is kept as work. It is not used yet: OPENAI_API_KEY counts before it. Note: The key is not checked.';
    assert.equal(keptInWords('openai', 'work', { account: key, unusedBecause: 'OPENAI_API_KEY counts before it', check: unknown }), noted);
    assert.equal(keptInWords('openai', 'work', { account: key }), 'the key for openai is kept as work.');
  });

  it('are signed in to without a port first if the browser is on another machine', () => {
    assert.deepEqual(waysOf([chatgpt], false).map(({ way }) => way), ['browser', 'paste', 'device']);
    assert.deepEqual(waysOf([chatgpt], true).map(({ way }) => way), ['device', 'paste', 'browser']);
  });
});
