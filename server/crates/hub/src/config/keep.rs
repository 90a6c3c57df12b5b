//! The accounts that the user keeps, as the keys of providers that have no other.

use accounts::Accounts;

use super::{Config, dirs};

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
            Ok(kept) => kept.iter().for_each(|account| {
                self.providers.add_known(&account.provider);
            }),
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
}
