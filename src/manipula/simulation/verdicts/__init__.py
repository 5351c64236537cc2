"""Can the answer be trusted, and can the machine do it?"""
