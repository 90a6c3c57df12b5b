//! The accounts that the user keeps, as the keys of providers that have no other.

use accounts::vendor::origin;
use accounts::{Accounts, Listed};

use super::{Config, dirs};

/// The words about an account that a list names and that is not there.
const NOT_KEPT: &str = "there is no such account for this provider and its server, so it is left out";

impl Config {
    /// Takes in the accounts in the data folder. A key that the settings or the environment say counts more. A vendor
    /// that is known only by an account becomes a provider.
    pub(super) fn take_accounts(&mut self, environment: &dyn Fn(&str) -> Option<String>) {
        // Without a data folder nothing is kept.
        let Ok(folder) = dirs::data_folder(environment) else { return };
        self.accounts = Some(Accounts::new(&folder, self.providers.ca_file.clone(), self.sign_ins.clone()));
        self.look_at_accounts();
    }

    /// Looks at the accounts again, of which there may be more now.
    pub(crate) fn look_at_accounts(&mut self) {
        let Some(accounts) = self.accounts.clone() else { return };
        match accounts.list() {
            Ok(kept) => {
                for account in &kept {
                    self.providers.add_known(&account.provider);
                }
                self.tell_of_missing(&kept);
            }
            Err(problem) if self.warnings.contains(&problem.to_string()) => {}
            Err(problem) => self.warnings.push(problem.to_string()),
        }
        if let Some(text) = accounts.set_aside()
            && !self.warnings.contains(&text)
        {
            // It is there no more, nor is what was said of it.
            self.warnings.retain(|known| !known.contains(&accounts.store().file().display().to_string()));
            self.warnings.push(text);
        }
        for provider in &mut self.providers.providers {
            let account = accounts.of_provider(&provider.name, &provider.base_url, provider.needs_key);
            provider.set_account(account);
        }
    }

    /// Warns of the accounts that the lists of keys name and that are not kept.
    fn tell_of_missing(&mut self, kept: &[Listed]) {
        self.warnings.retain(|known| !known.contains(NOT_KEPT));
        for provider in &self.providers.providers {
            let (name, server) = (&provider.name, origin(&provider.base_url).unwrap_or_default());
            let is_it = |it: &Listed, label: &str| it.provider == *name && it.label == label && it.origin == server;
            let missing = provider.listed_accounts().filter(|label| !kept.iter().any(|it| is_it(it, label)));
            self.warnings.extend(missing.map(|label| {
                format!(
                    "providers.{name}.keys: `account:{label}`: {NOT_KEPT}; `azimuth auth list` shows those that are"
                )
            }));
        }
    }
}
