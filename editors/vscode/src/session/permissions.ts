// The permission rules in force: where each comes from and what it covers, and taking back what was granted.

import * as vscode from 'vscode';
import type { RuleEffect, RuleInfo } from '../generated/protocol';
import type { Request } from '../server/requests';
import { iconless, unlinked, visible } from '../text';
import type { Session } from './session';

interface RuleItem extends vscode.QuickPickItem {
  rule?: RuleInfo;
}

/** Shows the rules, until the user has seen enough of them. */
export async function showPermissions(session: Session, request: Request): Promise<void> {
  const sessionId = await session.some();
  for (;;) {
    const { rules } = await request('azimuth/permission/list', { sessionId });
    const rule = await chooseRule(rules);
    if (rule === undefined) return;
    if (!rule.revocable) {
      void vscode.window.showInformationMessage(unlinked(`Azimuth: ${rule.rule} is written in ${rule.source}, and is changed there.`));
      return;
    }
    if (await confirmed(rule)) await request('azimuth/permission/revoke', { sessionId, rule: rule.rule, origin: rule.origin });
  }
}

function chooseRule(rules: readonly RuleInfo[]): Promise<RuleInfo | undefined> {
  const pick = vscode.window.createQuickPick<RuleItem>();
  pick.title = 'Azimuth: permission rules, those that win first';
  pick.placeholder = rules.length === 0 ? 'There is no rule: you are asked about everything that is not known to be harmless.' : 'Enter revokes a rule that you granted';
  pick.matchOnDescription = true;
  pick.matchOnDetail = true;
  pick.items = rules.map(itemOf);
  return new Promise<RuleInfo | undefined>((resolve) => {
    pick.onDidAccept(() => resolve(pick.activeItems[0]?.rule));
    pick.onDidTriggerItemButton(({ item }) => resolve(item.rule));
    pick.onDidHide(() => resolve(undefined));
    pick.show();
  }).finally(() => pick.dispose());
}

function itemOf(rule: RuleInfo): RuleItem {
  const { icon, word } = effects[rule.effect];
  return {
    label: `${icon} ${iconless(rule.rule)}`,
    description: iconless(`${word} · ${rule.source}`),
    detail: iconless(rule.void === undefined ? rule.covers : `Does not count now: ${rule.void}. ${rule.covers}`),
    ...(rule.revocable ? { buttons: [revokeButton] } : {}),
    rule,
  };
}

const revokeButton: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon('trash'), tooltip: 'Revoke' };

const effects: Record<RuleEffect, { icon: string; word: string }> = {
  deny: { icon: '$(circle-slash)', word: 'never' },
  ask: { icon: '$(question)', word: 'asked' },
  allow: { icon: '$(check)', word: 'allowed' },
};

async function confirmed(rule: RuleInfo): Promise<boolean> {
  const confirm = 'Revoke';
  const chosen = await vscode.window.showWarningMessage(
    unlinked(`Revoke ${rule.rule}?`), { modal: true, detail: visible(`${rule.covers} From then on you are asked again.`) }, confirm);
  return chosen === confirm;
}
